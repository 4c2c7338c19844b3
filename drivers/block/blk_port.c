/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How do several CPUs use one queue? Under one lock a batch; who polls delivers to all.
 *
 * Why no wake-up is lost. Whenever the lock is free, each port that is halted will be woken:
 *
 *     mail   Of what was found done for it, there is less than it wishes for; else it was woken as
 *            that was delivered (settle()).
 *     ring   Of what the device has, it wishes for at least as many completions as the queue is
 *            armed for: the least of what halted ports still wish for. So the device interrupts
 *            before, or just when, the wish is fulfilled, and the handler wakes all that are halted.
 *
 * A port becomes halted under the lock, and only if blk_arm() saw that the completions it armed for
 * are not there yet. A poll that takes completions moves the queue's used_event away, and a disarm
 * switches the interrupt off; both put the armed wish right again before they unlock, or where
 * blk_arm() finds that too much has come since, wake all who are halted. An interrupt uses up the
 * wish, but leaves nobody halted. A CPU that is woken between its arming and its halt does not halt:
 * cpu_wake() ends the next interrupt_wait() then.
 */
#include "drivers/block/blk_port.h"

#include "drivers/block/blk_queue.h"

#define FOUND_MAX 32 /* by one look at the queue; not the most that a poll takes */

static void set_shared(struct blk_queue_users *users)
{
	for (struct blk_port *p = users->ports; p; p = p->next) {
		p->shared = users->nr_ports > 1;
		p->published_cycles =
			p->shared ? &p->own_published_cycles : blk_published_cycles(p->queue);
	}
}

void blk_port_open(struct blk_port *port, struct blk_queue *queue, unsigned cpu)
{
	struct blk_queue_users *users = &queue->users;

	*port = (struct blk_port){.queue = queue, .cpu = cpu};
	port->mail_tail = &port->mail;
	spin_lock(&users->lock);
	port->next = users->ports;
	users->ports = port;
	users->nr_ports++;
	queue->foreign_checks = BLK_FOREIGN_CHECKS; /* who looks first takes the time */
	set_shared(users);
	spin_unlock(&users->lock);
}

void blk_port_close(struct blk_port *port)
{
	struct blk_queue_users *users;
	struct blk_port **link;

	if (!port->queue)
		return;
	users = &port->queue->users;
	spin_lock(&users->lock);
	for (link = &users->ports; *link; link = &(*link)->next)
		if (*link == port) {
			*link = port->next;
			users->nr_ports--;
			break;
		}
	set_shared(users);
	spin_unlock(&users->lock);
	*port = (struct blk_port){0};
}

/* ---- Under the lock ---- */

static void unhalt(struct blk_port *port)
{
	port->queue->users.nr_halted -= port->halted;
	port->halted = false;
}

static void wake(struct blk_port *port)
{
	unhalt(port);
	cpu_wake(port->cpu);
}

static void wake_halted(struct blk_queue *q, const struct blk_port *self)
{
	for (struct blk_port *p = q->users.ports; p && q->users.nr_halted; p = p->next)
		if (p->halted)
			p == self ? unhalt(p) : wake(p);
}

/* Wakes those whose wish is fulfilled, and arms the queue for the least wish that is not, as the
 * head of this file says. @self runs this, and needs no wake-up. */
static void settle(struct blk_queue *q, const struct blk_port *self)
{
	unsigned least = UINT32_MAX;

	for (struct blk_port *p = q->users.ports; p; p = p->next) {
		if (!p->halted)
			continue;
		if (p->nr_mail >= p->wish)
			p == self ? unhalt(p) : wake(p);
		else if (p->wish - p->nr_mail < least)
			least = p->wish - p->nr_mail;
	}
	if (q->users.nr_halted && !blk_arm(q, least))
		wake_halted(q, self);
	if (!q->users.nr_halted)
		blk_disarm(q);
}

static void deliver(struct blk_request *req)
{
	struct blk_port *to = req->port;

	req->next = NULL;
	/* The first link of the list is what its owner peeks at without the lock. */
	__atomic_store_n(to->mail_tail, req, __ATOMIC_RELAXED);
	to->mail_tail = &req->next;
	to->nr_mail++;
}

/* Those of @port go to @done while there are fewer than @max, all others to the mail; returns how many
 * @done holds, of which @own were there before. */
static unsigned sort(struct blk_port *port, struct blk_request **done, unsigned own, unsigned max,
		     struct blk_request *const *found, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (found[i]->port == port && own < max)
			done[own++] = found[i];
		else
			deliver(found[i]);
	}
	return own;
}

static unsigned take_mail(struct blk_port *port, struct blk_request **done, unsigned max)
{
	struct blk_request *req = port->mail;
	unsigned n = 0;

	for (; n < max && req; req = req->next)
		done[n++] = req;
	__atomic_store_n(&port->mail, req, __ATOMIC_RELAXED);
	if (!req)
		port->mail_tail = &port->mail;
	port->nr_mail -= n;
	return n;
}

/* Takes all that is there, whatever @max of its own the port wants: others need not lock for theirs. */
static unsigned poll_for_all(struct blk_port *port, struct blk_request **done, unsigned max)
{
	struct blk_request *found[FOUND_MAX];
	struct blk_queue *q = port->queue;
	uint64_t empty = q->counters.polls_empty;
	unsigned n = blk_poll(q, found, FOUND_MAX);
	unsigned own = sort(port, done, 0, max, found, n);
	bool moved = q->counters.polls_empty == empty || q->ended;

	while (n == FOUND_MAX) {
		n = blk_poll(q, found, FOUND_MAX);
		own = sort(port, done, own, max, found, n);
	}
	/* An empty poll takes nothing, so it leaves the wish as it was. */
	if (q->users.nr_halted && moved)
		settle(q, port);
	return own;
}

/* ---- The calls ---- */

unsigned blk_shared_submit(struct blk_port *port, struct blk_request *const *reqs, unsigned n)
{
	struct blk_queue *q = port->queue;
	unsigned taken;

	for (unsigned i = 0; i < n; i++)
		reqs[i]->port = port;
	spin_lock(&q->users.lock);
	taken = blk_submit(q, reqs, n);
	port->own_published_cycles = *blk_published_cycles(q);
	port->in_flight += taken;
	spin_unlock(&q->users.lock);
	return taken;
}

/* Who finds the lock taken leaves it at that: a poll there delivers to this port too, and arming,
 * which waits for the lock, sees what is left. */
unsigned blk_shared_poll(struct blk_port *port, struct blk_request **done, unsigned max)
{
	struct blk_queue *q = port->queue;
	unsigned n;

	if (__atomic_load_n(&port->mail, __ATOMIC_RELAXED)) {
		spin_lock(&q->users.lock);
	} else if (!spin_try_lock(&q->users.lock)) {
		__atomic_store_n(&port->polls_busy, port->polls_busy + 1, __ATOMIC_RELAXED);
		return 0;
	}
	n = port->mail ? take_mail(port, done, max) : poll_for_all(port, done, max);
	port->in_flight -= n;
	spin_unlock(&q->users.lock);
	return n;
}

bool blk_shared_arm(struct blk_port *port, unsigned n)
{
	struct blk_queue *q = port->queue;
	bool armed = false;

	spin_lock(&q->users.lock);
	if (!port->mail && port->in_flight) {
		port->wish = n < port->in_flight ? n : port->in_flight;
		port->wish += port->wish == 0;
		q->users.nr_halted += !port->halted;
		port->halted = true;
		settle(q, port);
		armed = port->halted;
	}
	spin_unlock(&q->users.lock);
	return armed;
}

void blk_shared_disarm(struct blk_port *port)
{
	struct blk_queue *q = port->queue;

	spin_lock(&q->users.lock);
	unhalt(port);
	settle(q, port);
	spin_unlock(&q->users.lock);
}

bool blk_port_check_progress(struct blk_port *port)
{
	struct blk_queue *q = port->queue;
	bool working;

	if (!port->shared)
		return blk_check_progress(q);
	spin_lock(&q->users.lock);
	working = blk_check_progress(q);
	/* A reset, of the device or the queue alone, ended what they wait for, and took the wish. */
	if (!working || q->ended)
		wake_halted(q, port);
	spin_unlock(&q->users.lock);
	return working;
}

struct blk_counters blk_port_counters(const struct blk_port *port)
{
	struct blk_queue *q = port->queue;
	struct blk_counters counters;

	if (!port->shared)
		return *blk_counters(q);
	spin_lock(&q->users.lock);
	counters = *blk_counters(q);
	for (const struct blk_port *p = q->users.ports; p; p = p->next)
		counters.polls_empty += __atomic_load_n(&p->polls_busy, __ATOMIC_RELAXED);
	spin_unlock(&q->users.lock);
	return counters;
}

/* ---- From elsewhere ---- */

/*
 * Runs in interrupt_wait(), where no CPU holds a lock: taking one cannot wait for what was
 * interrupted. A late interrupt may find the boot CPU opening or closing ports. A port of this CPU
 * needs no wake-up, for the wait ends by itself; one that is not shared is not marked as halted.
 */
void blk_ports_interrupted(struct blk_queue *q)
{
	struct blk_queue_users *users = &q->users;
	unsigned here = cpu_index();

	spin_lock(&users->lock);
	blk_count_interrupt(q);
	if (users->nr_ports == 1 && users->ports->cpu != here)
		cpu_wake(users->ports->cpu);
	for (struct blk_port *p = users->ports; p; p = p->next)
		if (p->halted && p->cpu != here)
			wake(p);
	spin_unlock(&users->lock);
}

void blk_ports_wake_all(const struct blk_driver *driver)
{
	for (unsigned i = 0; i < driver->nr_queues; i++)
		for (struct blk_port *p = driver->queues[i]->users.ports; p; p = p->next)
			cpu_wake(p->cpu);
}
