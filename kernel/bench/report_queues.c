/* SPDX-License-Identifier: BSD-2-Clause */
/* Which queue does each CPU use, and how does that queue tell of completions? */
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/json.h"

#define NO_VECTOR 0xffff /* in blk_queue_info */

void queue_irq_text(char buf[QUEUE_IRQ_TEXT_MAX], const struct blk_queue_info *queue)
{
	if (queue->vector == NO_VECTOR)
		format(buf, QUEUE_IRQ_TEXT_MAX, "%s", queue->interrupt);
	else
		format(buf, QUEUE_IRQ_TEXT_MAX, "%s %u", queue->interrupt, queue->vector);
}

/* The next CPU from @cpu on whose queue this is; machine->cpus if there is none. */
static unsigned next_user(const struct report_machine *machine, const struct blk_device *dev,
			  unsigned queue, unsigned cpu)
{
	while (cpu < machine->cpus && blk_queue_of(dev, cpu, BLK_QUEUE_ANY) != dev->queues[queue])
		cpu++;
	return cpu;
}

static void queue_line(struct sink *out, const struct report_machine *machine,
		       const struct blk_device *dev, unsigned queue)
{
	struct blk_queue_info info;
	char irq[QUEUE_IRQ_TEXT_MAX];
	unsigned cpu = next_user(machine, dev, queue, 0);

	blk_queue_info(dev->queues[queue], &info);
	queue_irq_text(irq, &info);
	sink_printf(out, "  queue %2u, size %5u: %6s %*s cpu", queue, info.size,
		    mode_name(info.mode), QUEUE_IRQ_WIDTH, irq);
	if (cpu == machine->cpus)
		sink_puts(out, " none");
	for (; cpu < machine->cpus; cpu = next_user(machine, dev, queue, cpu + 1))
		sink_printf(out, " %u", cpu);
	sink_puts(out, "\n");
}

void report_queues(struct sink *out, const struct report_machine *machine,
		   const struct blk_device *dev)
{
	sink_printf(out, "%s %s: %u queue%s for %u CPU%s\n", dev->name, dev->address,
		    dev->nr_queues, dev->nr_queues > 1 ? "s" : "", machine->cpus,
		    machine->cpus > 1 ? "s" : "");
	for (unsigned i = 0; i < dev->nr_queues; i++)
		queue_line(out, machine, dev, i);
}

/* Without a key "vector" there is none. */
void json_queue_info(struct json *j, const struct blk_queue_info *queue)
{
	json_u64(j, "queue", queue->index);
	json_string(j, "mode", mode_name(queue->mode));
	json_string(j, "interrupt", queue->interrupt);
	if (queue->vector != NO_VECTOR)
		json_u64(j, "vector", queue->vector);
}

static void json_queue(struct json *j, const struct report_machine *machine,
		       const struct blk_device *dev, unsigned queue)
{
	struct blk_queue_info info;
	unsigned cpu;

	blk_queue_info(dev->queues[queue], &info);
	json_object_begin(j, NULL);
	json_queue_info(j, &info);
	json_u64(j, "size", info.size);
	json_array_begin(j, "cpus");
	for (cpu = next_user(machine, dev, queue, 0); cpu < machine->cpus;
	     cpu = next_user(machine, dev, queue, cpu + 1))
		json_u64(j, NULL, cpu);
	json_array_end(j);
	json_object_end(j);
}

void json_queue_map(struct json *j, const struct report_machine *machine,
		    const struct blk_device *dev)
{
	json_array_begin(j, "queue_map");
	for (unsigned i = 0; i < dev->nr_queues; i++)
		json_queue(j, machine, dev, i);
	json_array_end(j);
}
