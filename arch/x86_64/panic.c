/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the kernel give up? With a message, a backtrace and the panic status. */
#include "arch/x86_64/panic.h"

#include <stdarg.h>

#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/percpu.h"
#include "lib/format.h"
#include "lib/log.h"

#define FRAMES_MAX   32
#define MESSAGE_MAX  512
#define STOP_WAIT_NS 1000000000u /* on a busy host a CPU gets no time for long */

struct stack_frame {
	uint64_t rbp, rip;
};

/*
 * By an NMI, which ends in panic_begin() there. To each of those that run: one that was left out has
 * no table of traps, and would shut the machine down.
 */
static void stop_others(struct sink *out)
{
	unsigned n = cpus_count();

	if (n == 1 || this_cpu()->lapic < LAPIC_XAPIC)
		return;
	for (unsigned i = 0; i < n; i++)
		if (cpu_of(i) != this_cpu())
			lapic_send(cpu_of(i)->apic_id, COMMAND_NMI | COMMAND_ASSERT);
	for (unsigned i = 0; i < n; i++)
		if (cpu_of(i) != this_cpu() && !wait_set(&cpu_of(i)->stopped, STOP_WAIT_NS))
			sink_printf(out, "CPU %u does not stop\n", i);
}

static _Noreturn void cpu_stop(void)
{
	__atomic_store_n(&this_cpu()->stopped, true, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("cli\n\thlt");
}

static struct sink *below;

/* The lock of what is below is kept from all others by now, and by whom it interrupted. */
static void write_below(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	below->write(below, text, len);
}

static struct sink *seize(struct sink *sink)
{
	static struct sink unlocked = {.write = write_below};

	below = sink;
	if (!sink_seize(sink))
		sink_puts(&unlocked, "\n");
	return &unlocked;
}

struct sink *panic_begin(void)
{
	static uint64_t owner; /* 1 + its APIC id: there may be no this_cpu() yet */
	uint64_t self = 1 + (uint64_t)cpu_initial_apic_id(), nobody = 0;
	struct sink *out = log_get_sink();

	__asm__ volatile("cli");
	if (!__atomic_compare_exchange_n(&owner, &nobody, self, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (nobody == self)
			machine_exit(EXIT_PANIC);
		cpu_stop();
	}
	out = seize(out ? out : early_console());
	stop_others(out);
	return out;
}

/* A frame is believed if it is whole, aligned and on a stack of ours. */
static const struct stack_frame *frame_at(uint64_t rbp)
{
	const struct stack_area *stack = stack_of(rbp);

	if (rbp % 8 || !stack || stack->high - rbp < sizeof(struct stack_frame))
		return NULL;
	return (const struct stack_frame *)(uintptr_t)rbp;
}

/* Frames only lead upward within one stack, so the walk ends even on a damaged one. */
static void backtrace(struct sink *out, uint64_t rip, uint64_t rbp)
{
	const struct stack_frame *frame = frame_at(rbp);

	sink_puts(out, "backtrace:\n");
	for (unsigned i = 0; i < FRAMES_MAX; i++) {
		sink_printf(out, "  #%u 0x%llx\n", i, (unsigned long long)rip);
		if (!frame)
			return;
		rip = frame->rip;
		if (frame->rbp > rbp && stack_of(frame->rbp) == stack_of(rbp)) {
			rbp = frame->rbp;
			frame = frame_at(rbp);
		} else {
			frame = NULL;
		}
	}
	sink_puts(out, "  (more frames left out)\n");
}

void panic_end(struct sink *out, uint64_t rip, uint64_t rbp)
{
	backtrace(out, rip, rbp);
	machine_exit(EXIT_PANIC);
}

void panic(const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	struct sink *out = panic_begin();
	va_list ap;

	va_start(ap, fmt);
	format_v(message, sizeof(message), fmt, ap);
	va_end(ap);
	sink_puts(out, "panic: ");
	sink_puts(out, message);
	/* Before percpu_init() there is one. */
	sink_printf(out, "\n  on CPU %u\n", msr_read(MSR_GS_BASE) ? this_cpu()->index : 0);
	/* As in a trap's report, #0 is where it stands and the rest are return addresses. */
	panic_end(out, (uintptr_t)panic, (uintptr_t)__builtin_frame_address(0));
}
