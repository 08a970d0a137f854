package loadproxy

import (
	"errors"
	"time"

	"adshard/fault"
)

// Config has the slave's identity and its times and limits.
type Config struct {
	// Name is the slave's name, unique in the cluster; Address is where masters
	// reach it; Incarnation is new at each start of the process.
	Name, Address, Incarnation string
	// Instance is that of the slave's directory (pb.Replica); 0 means
	// unknown.
	Instance uint64
	// Zone says which other slaves may fail together with this one; "" means
	// unknown.
	Zone string
	// Grace is how long a starting slave waits for a balancer before it serves the
	// data that it has.
	Grace time.Duration
	// Wait is how long a pull may wait for a bucket; MaxBytes bounds a bucket.
	Wait     time.Duration
	MaxBytes uint32
	// CallTimeout bounds a call, beyond Wait; VerifyTimeout bounds the comparison
	// of a slice, or of a part of one, with the database.
	CallTimeout, VerifyTimeout time.Duration
	// Report is the time between two reports (balance.MapperConfig.Report); Away is how long a distributor may
	// be unreachable before the balancer is asked for another one.
	Report, Away time.Duration
	// Counted is the number of searches a second, roughly, whose cost is counted; 0
	// means none.
	Counted int
	// Backoff is the first and MaxBackoff the longest pause after a failure.
	Backoff, MaxBackoff time.Duration
	// Quiet is how long after the last bucket the store is maintained; after
	// Overdue it is maintained anyway, for Slice at a time.
	Quiet, Overdue, Slice time.Duration
	// Spool is the directory for keywords of a group that come in parts, until all
	// have arrived; "" means the system's.
	Spool string
	// Copier makes copies of siblings' stores. If it is nil, the slave is always filled by
	// node data.
	Copier Copier
}

// Default returns the configuration of a slave with this name and address.
func Default(name, address string) Config {
	return Config{
		Name: name, Address: address,
		Grace: 2 * time.Second, Wait: 2 * time.Second, MaxBytes: 4 << 20, CallTimeout: 5 * time.Second, VerifyTimeout: 2 * time.Minute,
		Report: time.Second, Away: 2 * time.Second, Counted: 1000,
		Backoff: 50 * time.Millisecond, MaxBackoff: 200 * time.Millisecond,
		Quiet: 500 * time.Millisecond, Overdue: 10 * time.Second, Slice: 200 * time.Millisecond,
	}
}

// Validate lists all faults of the configuration.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, field, text string) {
		if !ok {
			faults = append(faults, fault.Field("loadproxy", field, "%s: %s", field, text))
		}
	}
	check(c.Name != "", "name", "must not be empty")
	check(c.Address != "", "address", "must not be empty")
	check(c.MaxBytes > 0, "max_bytes", "must be positive")
	for field, d := range map[string]time.Duration{"wait": c.Wait, "call_timeout": c.CallTimeout, "verify_timeout": c.VerifyTimeout,
		"backoff": c.Backoff, "slice": c.Slice, "report": c.Report} {
		check(d > 0, field, "must be a positive duration")
	}
	check(c.Grace >= 0, "grace", "must not be negative")
	check(c.MaxBackoff >= c.Backoff, "max_backoff", "must not be below backoff")
	return errors.Join(faults...)
}
