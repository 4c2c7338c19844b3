/* SPDX-License-Identifier: BSD-2-Clause */
/* Who works with whom in a group? Jobs are dealt out to lanes, a lane's jobs to its ports. */
#include "kernel/bench/group.h"
#include "kernel/bench/placement.h"
#include "lib/format.h"

#define ALIGN 128

uint64_t group_memory_bytes(unsigned n)
{
	return (uint64_t)n * (sizeof(struct job) + sizeof(struct lane) + sizeof(struct lane_port) +
			      sizeof(struct lane_seat) + sizeof(struct job *) +
			      IODEPTH_MAX * sizeof(struct blk_request *));
}

static bool allocate(struct group *g)
{
	unsigned n = g->nr_jobs;

	for (unsigned i = 0; i < n; i++)
		g->found_bytes += g->results[i].plan->options->iodepth * sizeof(*g->found);
	g->job = dma_alloc(n * sizeof(*g->job), ALIGN);
	g->lane = dma_alloc(n * sizeof(*g->lane), ALIGN);
	g->port = dma_alloc(n * sizeof(*g->port), ALIGN);
	g->seat = dma_alloc(n * sizeof(*g->seat), ALIGN);
	g->lists = dma_alloc(n * sizeof(struct job *), ALIGN);
	g->found = dma_alloc(g->found_bytes, ALIGN);
	return g->job && g->lane && g->port && g->seat && g->lists && g->found;
}

static struct lane *lane_of(struct group *g, unsigned cpu)
{
	for (unsigned i = 0; i < g->nr_lanes; i++)
		if (g->lane[i].cpu == cpu)
			return &g->lane[i];
	g->seat[g->nr_lanes] = (struct lane_seat){.group = g, .lane = &g->lane[g->nr_lanes]};
	g->lane[g->nr_lanes].cpu = cpu;
	return &g->lane[g->nr_lanes++];
}

static void set_mode(struct lane_port *p, const struct job_result *r)
{
	p->mode = r->queue.mode;
	p->coalesce = r->plan->device->irq_coalesce;
	p->counts_missed = r->queue.cpu == r->cpu;
}

/* The lane's ports are the last ones so far: they lie together. */
static struct lane_port *port_of(struct group *g, struct lane *l, const struct job_result *r)
{
	struct blk_queue *queue = placement_queue(r);
	struct lane_port *p;

	for (unsigned i = 0; i < l->nr_ports; i++)
		if (l->port[i].blk.queue == queue)
			return &l->port[i];
	p = &g->port[g->nr_ports++];
	l->nr_ports++;
	blk_port_open(&p->blk, queue, l->cpu);
	set_mode(p, r);
	return p;
}

static bool add_job(struct group *g, struct lane *l, unsigned index)
{
	struct job_result *r = &g->results[index];
	struct lane_port *p = port_of(g, l, r);
	struct job *job = &g->job[index];
	bool is_first = p->most == 0;

	if (!job_create(job, r, index, &p->blk, &l->usage))
		return false;
	job->via = p;
	p->only = is_first ? job : NULL;
	if (is_first || job->complete_max < p->most)
		p->most = job->complete_max;
	l->job[l->nr_jobs++] = job;
	l->restless |= job->pace.on;
	l->may_halt |= p->mode != BLK_POLL || job->pace.on;
	return true;
}

/* All jobs of one lane, and then those of the next: their lists lie one behind the other. */
static struct job *fill_lanes(struct group *g)
{
	struct blk_request **found = g->found;
	struct job **list = g->lists;

	for (unsigned i = 0; i < g->nr_jobs; i++)
		lane_of(g, g->results[i].cpu);
	for (unsigned k = 0; k < g->nr_lanes; k++) {
		struct lane *l = &g->lane[k];

		l->job = list;
		l->found = found;
		l->port = &g->port[g->nr_ports];
		for (unsigned i = 0; i < g->nr_jobs; i++) {
			if (g->results[i].cpu != l->cpu)
				continue;
			if (!add_job(g, l, i))
				return &g->job[i];
			found += g->job[i].set.n;
		}
		list += l->nr_jobs;
	}
	return NULL;
}

/* Which lanes must let interrupts in for others, and what goes only for a queue of one's own. */
static void look_across(struct group *g)
{
	for (unsigned i = 0; i < g->nr_ports; i++)
		if (g->port[i].blk.shared)
			g->port[i].counts_missed = false;
	for (unsigned a = 0; a < g->nr_lanes; a++) {
		struct lane *l = &g->lane[a];

		for (unsigned i = 0; i < g->nr_ports; i++) {
			struct lane_port *p = &g->port[i];
			struct blk_queue_info info;

			if (p->blk.cpu == l->cpu)
				continue;
			blk_queue_info(p->blk.queue, &info);
			l->lets_in |= info.mode != BLK_POLL && info.cpu == l->cpu;
		}
	}
}

bool group_create(struct group *g, struct job_result *results, unsigned n, char *error,
		  size_t error_size)
{
	const struct job *failed;

	*g = (struct group){.results = results, .nr_jobs = n, .home = cpu_index()};
	if (!allocate(g)) {
		format(error, error_size, "no memory to run %u jobs", n);
		group_destroy(g);
		return false;
	}
	failed = fill_lanes(g);
	if (failed) {
		const struct job_options *o = failed->plan->options;

		format(error, error_size, "%s: no memory for iodepth=%u buffers of bs=%u", o->name,
		       o->iodepth, o->bs_bytes);
		group_destroy(g);
		return false;
	}
	look_across(g);
	return true;
}

void group_destroy(struct group *g)
{
	unsigned n = g->nr_jobs;

	for (unsigned i = 0; g->job && i < n; i++)
		if (g->job[i].plan)
			job_destroy(&g->job[i]);
	for (unsigned i = 0; i < g->nr_ports; i++)
		blk_port_close(&g->port[i].blk);
	dma_free(g->found, g->found_bytes);
	dma_free(g->lists, n * sizeof(struct job *));
	dma_free(g->seat, n * sizeof(*g->seat));
	dma_free(g->port, n * sizeof(*g->port));
	dma_free(g->lane, n * sizeof(*g->lane));
	dma_free(g->job, n * sizeof(*g->job));
}
