/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a single request done and waited for? A batch of one. */
#include "drivers/block/blk.h"

#include "lib/mem.h"

enum blk_status blk_do(struct blk_queue *queue, enum blk_op op, uint64_t lba_512, void *data,
		       uint32_t bytes)
{
	struct blk_request req = {.lba_512 = lba_512, .op = (uint8_t)op};
	struct blk_request *one = &req, *done = NULL;

	if (bytes) {
		req.sgl.n = 1;
		req.sgl.len_bytes = bytes;
		req.sgl.inline_sg[0] = (struct sg){dma_map(data, bytes), bytes};
	}
	if (blk_submit(queue, &one, 1) == 0)
		return BLK_IO_ERROR; /* not empty, against the contract */
	/* Bounded: past its time limit blk_check_progress() ends the request. */
	while (blk_poll(queue, &done, 1) == 0) {
		blk_check_progress(queue);
		cpu_relax();
	}
	if (bytes)
		dma_unmap(req.sgl.inline_sg[0].addr, bytes);
	return req.progress.status;
}

enum blk_status blk_get_id(struct blk_device *dev, char id[BLK_ID_BYTES + 1])
{
	char *buffer = dma_alloc(BLK_ID_BYTES, 64);
	enum blk_status status = BLK_IO_ERROR;

	id[0] = '\0';
	if (!buffer)
		return status;
	status = blk_do(dev->queues[0], BLK_GET_ID, 0, buffer, BLK_ID_BYTES);
	if (status == BLK_OK) {
		/* Padded with NULs; not terminated where all 20 bytes are used (5.2.6). */
		memcpy(id, buffer, BLK_ID_BYTES);
		id[BLK_ID_BYTES] = '\0';
		for (char *c = id; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
	}
	dma_free(buffer, BLK_ID_BYTES);
	return status;
}
