/* SPDX-License-Identifier: BSD-2-Clause */
/* What went wrong, and where? The report of an exception, then the end. */
#include "arch/x86_64/trap.h"

#include <stdbool.h>

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/interrupt.h"
#include "arch/x86_64/panic.h"
#include "lib/format.h"

static const char *const names[EXCEPTIONS] = {
	"#DE divide error",
	"#DB debug",
	"NMI non-maskable interrupt",
	"#BP breakpoint",
	"#OF overflow",
	"#BR bound range exceeded",
	"#UD invalid opcode",
	"#NM no math device",
	"#DF double fault",
	"coprocessor segment overrun",
	"#TS invalid TSS",
	"#NP segment not present",
	"#SS stack segment fault",
	"#GP general protection",
	"#PF page fault",
	"reserved",
	"#MF x87 floating point",
	"#AC alignment check",
	"#MC machine check",
	"#XM SIMD floating point",
	"#VE virtualization",
	"#CP control protection",
	[28] = "#HV hypervisor injection",
	[29] = "#VC VMM communication",
	[30] = "#SX security",
};

/* Intel SDM vol. 3, 4.7: bits 0 present, 1 write, 2 user, 3 reserved bit, 4 instruction fetch. */
static void report_page_fault(struct sink *out, uint64_t error, uint64_t addr)
{
	const char *what = error & 16 ? "execution of" : error & 2 ? "write to" : "read from";
	const char *state = error & 8	? "with a reserved bit set in its table"
			    : error & 1 ? "that forbids it"
					: "that is not mapped";
	const struct stack_area *owner = stack_guarded_at(addr);

	sink_printf(out, "  %s 0x%llx, a page %s%s\n", what, (unsigned long long)addr, state,
		    error & 4 ? ", from user mode" : "");
	if (owner)
		sink_printf(out, "  this is the guard page of the %s stack: it overflowed\n",
			    owner->name);
	else if (addr < PAGE_BYTES)
		sink_puts(out, "  this is page 0: a null pointer\n");
}

static void report_pair(struct sink *out, const char *a, uint64_t a_value, const char *b,
			uint64_t b_value)
{
	sink_printf(out, "  %-3s 0x%016llx  %-3s 0x%016llx\n", a, (unsigned long long)a_value, b,
		    (unsigned long long)b_value);
}

static void report_registers(struct sink *out, const struct trap_frame *f, uint64_t cr2)
{
	sink_printf(out, "  RIP 0x%016llx\n", (unsigned long long)f->rip);
	report_pair(out, "RSP", f->rsp, "RFL", f->rflags);
	report_pair(out, "CS", f->cs, "SS", f->ss);
	report_pair(out, "RAX", f->rax, "RBX", f->rbx);
	report_pair(out, "RCX", f->rcx, "RDX", f->rdx);
	report_pair(out, "RSI", f->rsi, "RDI", f->rdi);
	report_pair(out, "RBP", f->rbp, "R8", f->r8);
	report_pair(out, "R9", f->r9, "R10", f->r10);
	report_pair(out, "R11", f->r11, "R12", f->r12);
	report_pair(out, "R13", f->r13, "R14", f->r14);
	report_pair(out, "R15", f->r15, "CR0", cr0_read());
	report_pair(out, "CR2", cr2, "CR3", cr3_read());
	sink_printf(out, "  %-3s 0x%016llx\n", "CR4", (unsigned long long)cr4_read());
}

/* A jump to nowhere left its frame behind: who called is still on top of the stack. */
static void report_caller(struct sink *out, const struct trap_frame *f)
{
	bool in_text = f->rip >= (uintptr_t)image_start && f->rip < (uintptr_t)text_end;

	if (!in_text && f->rsp % 8 == 0 && stack_of(f->rsp))
		sink_printf(out, "  called from 0x%llx\n",
			    *(const unsigned long long *)(uintptr_t)f->rsp);
}

void trap_handle(const struct trap_frame *frame)
{
	struct sink *out;
	uint64_t cr2;

	if (frame->vector >= EXCEPTIONS) {
		interrupt_dispatch((unsigned)frame->vector);
		return;
	}
	cr2 = cr2_read();
	out = panic_begin();
	sink_printf(out, "panic: %s (vector %llu), error code 0x%llx, CPU %u\n",
		    names[frame->vector] ? names[frame->vector] : "reserved",
		    (unsigned long long)frame->vector, (unsigned long long)frame->error,
		    cpu_index());
	if (frame->vector == VECTOR_PAGE_FAULT)
		report_page_fault(out, frame->error, cr2);
	if ((uintptr_t)frame % 16)
		sink_printf(out, "  the handler's stack is not aligned: frame at %p\n",
			    (const void *)frame);
	report_registers(out, frame, cr2);
	report_caller(out, frame);
	panic_end(out, frame->rip, frame->rbp);
}
