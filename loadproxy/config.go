package loadproxy

import (
	"errors"
	"time"

	"adshard/fault"
	"adshard/search/words"
)

// Config has the slave's identity, and its times and limits.
type Config struct {
	// Name is the slave's name, unique in the cluster. Address is where masters reach the slave. Incarnation
	// is different for each start of the process.
	Name, Address, Incarnation string
	// Instance identifies the slave's directory (pb.Replica), or is 0 if that is unknown.
	Instance uint64
	// Zone names what the slave shares with others that may fail together with it, or is "" if that is
	// unknown.
	Zone string
	// Grace is how long a slave waits for a balancer after its start. After that it serves the data that it
	// has.
	Grace time.Duration
	// Wait is how long a pull may wait for a bucket; MaxBytes bounds the size of a bucket.
	Wait     time.Duration
	MaxBytes uint32
	// CallTimeout bounds a call, in addition to Wait for a pull. VerifyTimeout bounds the comparison of a
	// slice, or of a part of one, with the database.
	CallTimeout, VerifyTimeout time.Duration
	// Report is the time between two reports (balance.MapperConfig.Report). Away is how long a distributor may
	// be unreachable before the slave asks the balancer for another one.
	Report, Away time.Duration
	// Counted is roughly the number of searches per second whose cost is measured; 0 means none.
	Counted int
	// Backoff is the first pause after a failure, and MaxBackoff the longest.
	Backoff, MaxBackoff time.Duration
	// Quiet is how long after the last bucket the maintenance of the store begins. Work that has waited for
	// Overdue is done anyway, for Slice at a time.
	Quiet, Overdue, Slice time.Duration
	// Spool is the directory for keywords of groups that arrive in parts, until all parts are there; "" means
	// the system's directory for temporary files.
	Spool string
	// Languages are those whose words have stems in the store.
	Languages words.Languages
	// Copier copies the stores of siblings. If it is nil, the slave is always filled by node data.
	Copier Copier
}

// Default returns the default configuration of a slave with this name and address.
func Default(name, address string) Config {
	return Config{
		Name: name, Address: address,
		Grace: 2 * time.Second, Wait: 2 * time.Second, MaxBytes: 4 << 20, CallTimeout: 5 * time.Second, VerifyTimeout: 2 * time.Minute,
		Report: time.Second, Away: 2 * time.Second, Counted: 1000,
		Backoff: 50 * time.Millisecond, MaxBackoff: 200 * time.Millisecond,
		Quiet: 500 * time.Millisecond, Overdue: 10 * time.Second, Slice: 200 * time.Millisecond,
	}
}

// Validate returns an error that lists all faults of the configuration, or nil if there is none.
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
