package backend

import (
	"time"
	_ "time/tzdata" // the same zones on every machine, also on one without any

	"adshard/fault"
)

// DefaultTimeZone is the time zone of an advertiser without a given one.
const DefaultTimeZone = "UTC"

// LoadZone returns the time zone of an IANA name, such as Europe/Prague. These begin with
// a capital; what else lies in a machine's directory of zones (localtime, posix/…, right/…
// with leap seconds) means something else on another machine. Errors: fault.Invalid.
func LoadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fault.Field("time zone", "time_zone", "unknown time zone %.40q: a name of the IANA database, e.g. Europe/Prague or UTC", name)
	}
	return zone, nil
}
