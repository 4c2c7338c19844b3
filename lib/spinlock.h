/* SPDX-License-Identifier: BSD-2-Clause */
/* How do two CPUs keep out of each other's way for a moment? All zeroes is an open lock. */
#ifndef LIB_SPINLOCK_H
#define LIB_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Not fair, not recursive. Interrupts run only where a CPU waits for them: never under a lock. */
struct spinlock {
	uint32_t locked;
};

static inline bool spin_try_lock(struct spinlock *lock)
{
	return !__atomic_load_n(&lock->locked, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE);
}

/* Those who wait only read, so that the line stays with all of them until it is opened. */
static inline void spin_lock(struct spinlock *lock)
{
	while (!spin_try_lock(lock))
		__builtin_ia32_pause();
}

static inline void spin_unlock(struct spinlock *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

#endif
