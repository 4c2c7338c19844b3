/* SPDX-License-Identifier: BSD-2-Clause */
/* On which machine, and by which program, were the figures taken? */
#ifndef KERNEL_IDENTITY_H
#define KERNEL_IDENTITY_H

#include <arch/boot_info.h>

#include "kernel/bench/result.h"
#include "kernel/disks.h"

#define RINGLAB_VERSION "0.1.0"

void identity_banner(struct sink *out);
/* All but the times that are known only after the run. */
void identity_machine(struct report_machine *m, const struct boot_info *info,
		      const struct disks *disks);
/* The clock's best figures: after the run, before the report. */
void identity_clock(struct report_machine *m);

#endif
