package doctor

// Clocks.

import "fmt"

func clockSource(s *System) finding {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	source := s.read(dir + "current_clocksource")
	switch source {
	case "":
		return unknown
	case "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page":
		return good(source)
	}
	return note(source+": reading the time is a system call", "if the machine's TSC is stable, `echo tsc > /"+dir+"current_clocksource`, or boot with tsc=reliable")
}

// clock: offsets between hosts do not hurt a job, whose protocols use no clock of another host.
func clock(s *System) finding {
	synchronized, maxErr, err := s.ClockState()
	switch {
	case err != nil:
		return unknown
	case !synchronized:
		return note("nothing keeps it to the time of other hosts", "logs and profiles of hosts do not line up: run chronyd, systemd-timesyncd or ptp4l")
	}
	return good(fmt.Sprintf("synchronized, within %.1f ms", float64(maxErr)/1000))
}
