/* SPDX-License-Identifier: BSD-2-Clause */
/* How far are the jobs that run now? One line for all of them, from what each has published. */
#include "kernel/bench/progress.h"

#include "kernel/bench/job.h"
#include "lib/format.h"
#include "lib/wide.h"

void progress_name(char *buf, size_t size, const struct progress *p)
{
	if (p->jobs > 1)
		format(buf, size, "%u jobs", p->jobs);
	else
		format(buf, size, "%s", p->plan->options->name);
}

void progress_start(struct progress_meter *m, uint64_t now)
{
	m->started = now;
	m->next = m->hook && m->hook->interval_ns ? now + ns_to_cycles(m->hook->interval_ns)
						  : UINT64_MAX;
}

/* By time if the job has an end in time, by requests if it has a number to do; the nearer end. */
static void estimate(const struct job *job, uint64_t elapsed_ns, struct progress *p)
{
	const struct job_options *o = job->plan->options;
	uint64_t whole_ns = o->ramp_time_ns + o->runtime_ns, total = job->plan->total_ios;
	uint64_t ios = __atomic_load_n(&job->shown_ios, __ATOMIC_RELAXED);
	uint64_t left = __atomic_load_n(&job->shown_left, __ATOMIC_RELAXED);

	*p = (struct progress){.ios = ios, .left_ns = UINT64_MAX};
	if (o->runtime_ns) {
		p->left_ns = elapsed_ns < whole_ns ? whole_ns - elapsed_ns : 0;
		p->percent = (unsigned)wide_mul_div(elapsed_ns, 100, whole_ns);
	}
	if (total != UINT64_MAX && ios) {
		uint64_t by_count_ns = wide_mul_div(elapsed_ns, left, ios);

		if (by_count_ns < p->left_ns) {
			p->left_ns = by_count_ns;
			p->percent = (unsigned)wide_mul_div(total - left, 100, total);
		}
	}
	if (p->percent > 100)
		p->percent = 100;
}

void progress_show(struct progress_meter *m, uint64_t now)
{
	struct progress all = {.plan = m->jobs[0].plan,
			       .jobs = m->nr_jobs,
			       .elapsed_ns = cycles_to_ns(now - m->started),
			       .percent = 100};

	for (unsigned i = 0; i < m->nr_jobs; i++) {
		struct progress one;

		estimate(&m->jobs[i], all.elapsed_ns, &one);
		all.ios += one.ios;
		if (one.left_ns > all.left_ns)
			all.left_ns = one.left_ns;
		if (one.percent < all.percent)
			all.percent = one.percent;
	}
	m->hook->show(&all);
	m->next = now + ns_to_cycles(m->hook->interval_ns);
}
