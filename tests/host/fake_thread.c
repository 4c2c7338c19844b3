/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the device run beside the driver, so that a missing barrier can show? (F-077) */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "tests/host/fake_inside.h"

static void delay(struct fake_disk *disk)
{
	unsigned spins = fake_random(disk) % 64;

	if (spins == 0)
		sched_yield();
	for (; spins < 60 && spins > 0; spins--)
		__asm__ volatile("" ::: "memory");
}

static bool stopping(struct fake_disk *disk)
{
	return __atomic_load_n(&disk->stop, __ATOMIC_ACQUIRE) || fake_violation();
}

/* Takes what is there and completes some of it, as often as there is something to do. */
static void serve(struct fake_disk *disk)
{
	unsigned i, out = 1;

	while (out > 0 && !stopping(disk)) {
		pthread_mutex_lock(&disk->lock);
		for (i = out = 0; i < fake_nr_queues(disk); i++) {
			struct fake_queue *queue = &disk->queue[i];

			fake_queue_look(disk, queue);
			delay(disk);
			fake_queue_finish(disk, queue, 1 + fake_random(disk) % 8);
			out += queue->nr_pending;
		}
		if (!(disk->status & FAKE_S_DRIVER_OK))
			out = 0;
		pthread_mutex_unlock(&disk->lock);
	}
}

/* The device sleeps until it is notified: a notification that the driver leaves out is missed. */
static void *device(void *arg)
{
	struct fake_disk *disk = arg;

	while (!stopping(disk)) {
		while (sem_wait(&disk->bell) && errno == EINTR)
			;
		delay(disk);
		serve(disk);
	}
	return NULL;
}

void fake_thread_start(struct fake_disk *disk, uint32_t seed)
{
	disk->random = seed | 1;
	disk->threaded = true;
	disk->stop = false;
	if (pthread_create(&disk->thread, NULL, device, disk))
		abort();
}

void fake_thread_stop(struct fake_disk *disk)
{
	__atomic_store_n(&disk->stop, true, __ATOMIC_RELEASE);
	sem_post(&disk->bell);
	pthread_join(disk->thread, NULL);
	disk->threaded = false;
}

/* In lock-step the device moves whenever the driver waits. */
void fake_relax(void)
{
	static uint64_t n;
	struct fake_disk *disk;

	for (disk = fake_disks(); disk; disk = disk->next)
		if (disk->threaded && host_add(&n, 1) % 64 == 0)
			sched_yield();
	fake_step();
}
