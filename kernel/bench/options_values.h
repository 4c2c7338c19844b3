/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kinds of value do options take? One parser each, for the table. */
#ifndef KERNEL_BENCH_OPTIONS_VALUES_H
#define KERNEL_BENCH_OPTIONS_VALUES_H

#include "kernel/bench/options_table.h"

typedef bool option_parser(const struct option *option, const char *value, void *where);

option_parser value_u32, value_u64;	     /* in [min, max] */
option_parser value_size32, value_size64;    /* bytes in [min, max] */
option_parser value_extent;		     /* bytes or N%, above 0 if min is */
option_parser value_time, value_timeout_ms;  /* to nanoseconds; a bare number is seconds, or ms */
option_parser value_bool, value_choice_bool; /* the latter: false|true under other words */
option_parser value_choice;		     /* place in .valid; past .max: a synonym of .min */
option_parser value_name, value_filename, value_percentiles;
option_parser value_cpus, value_hipri, value_rates;
option_parser value_time_us; /* as value_time; a bare number is microseconds */
option_parser value_hash, value_eta, value_log_level, value_qsize, value_indirect;

#endif
