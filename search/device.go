package search

import "fmt"

// Device is the kind of device that the user searches on. It selects a bid modifier.
type Device uint8

// The devices.
const (
	Desktop Device = iota
	Mobile
	Tablet
)

// Devices is the number of devices.
const Devices = 3

var deviceNames = [...]string{"desktop", "mobile", "tablet"}

// String returns the device's name in requests.
func (d Device) String() string {
	if int(d) < len(deviceNames) {
		return deviceNames[d]
	}
	return fmt.Sprintf("device(%d)", uint8(d))
}

// ParseDevice reads the name of a device. ok is false if there is no such device.
func ParseDevice(s string) (Device, bool) {
	for i, n := range deviceNames {
		if n == s {
			return Device(i), true
		}
	}
	return 0, false
}
