/* SPDX-License-Identifier: BSD-2-Clause */
/* How is the machine turned off? The FADT names the registers, the DSDT's \_S5_ the value. */
#include <arch/machine.h>

#include "arch/x86_64/acpi.h"
#include "arch/x86_64/acpi_aml.h"
#include "lib/log.h"

/* Offsets in the FADT, ACPI 6.4, 5.2.9. */
enum {
	FADT_PM1A_CONTROL = 64,
	FADT_PM1B_CONTROL = 68,
	FADT_FLAGS = 112,
	FADT_SLEEP_CONTROL = 244,
};
#define FLAG_HARDWARE_REDUCED (1u << 20)

/* PM1 control, 4.8.3.2.1, and the sleep control register of reduced hardware, 4.8.3.7. */
#define PM1_SLEEP_TYPE_SHIFT 10
#define PM1_SLEEP_ENABLE     (1u << 13)
#define SLEEP_TYPE_SHIFT     2
#define SLEEP_ENABLE	     (1u << 5)
#define SLEEP_TYPE_MAX	     7

static struct {
	bool known;
	uint8_t type_a, type_b;
	uint16_t pm1a_port, pm1b_port;
	struct acpi_address sleep_control;
	volatile void *sleep_register; /* if sleep_control is memory */
} power;

/* ACPI 6.4, 7.4.2: the first two elements are the sleep types for PM1a and PM1b. */
static bool read_s5(void)
{
	struct aml aml;
	unsigned elements;
	uint64_t a, b = 0;

	if (!aml_find("_S5_", &aml) || !aml_package(&aml, &elements) || !elements ||
	    !aml_integer(&aml, &a))
		return false;
	if (elements > 1 && !aml_integer(&aml, &b))
		return false;
	if (a > SLEEP_TYPE_MAX || b > SLEEP_TYPE_MAX)
		return false;
	power.type_a = (uint8_t)a;
	power.type_b = (uint8_t)b;
	return true;
}

void acpi_power_init(void)
{
	const struct acpi_header *fadt = acpi_find("FACP");

	if (!fadt)
		return;
	if (!read_s5()) {
		log_info("ACPI: no \\_S5_ in the DSDT: this machine is not turned off by ACPI");
		return;
	}
	power.pm1a_port = (uint16_t)acpi_field(fadt, FADT_PM1A_CONTROL, 4);
	power.pm1b_port = (uint16_t)acpi_field(fadt, FADT_PM1B_CONTROL, 4);
	if (acpi_field(fadt, FADT_FLAGS, 4) & FLAG_HARDWARE_REDUCED) {
		power.pm1a_port = power.pm1b_port = 0;
		power.sleep_control = acpi_generic_address(fadt, FADT_SLEEP_CONTROL);
		if (power.sleep_control.address && power.sleep_control.space == ACPI_SPACE_MEMORY)
			power.sleep_register = mmio_map(power.sleep_control.address, 1);
	}
	power.known = true;
}

static void enter_pm1(uint16_t port, uint8_t type)
{
	uint16_t keep = port_read16(port) & ~(uint16_t)(7u << PM1_SLEEP_TYPE_SHIFT);

	port_write16(port,
		     (uint16_t)(keep | (unsigned)type << PM1_SLEEP_TYPE_SHIFT | PM1_SLEEP_ENABLE));
}

void acpi_power_off(void)
{
	uint8_t sleep = (uint8_t)((unsigned)power.type_a << SLEEP_TYPE_SHIFT | SLEEP_ENABLE);

	if (!power.known)
		return;
	if (power.pm1a_port)
		enter_pm1(power.pm1a_port, power.type_a);
	if (power.pm1b_port)
		enter_pm1(power.pm1b_port, power.type_b);
	if (power.sleep_register)
		mmio_write8(power.sleep_register, sleep);
	else if (power.sleep_control.address && power.sleep_control.space == ACPI_SPACE_PORT)
		port_write8((uint16_t)power.sleep_control.address, sleep);
}
