package sim

import "adshard/fault"

// Run runs a cluster under its trace and tells what happened. Errors:
// fault.Invalid for a bad configuration, fault.Internal when a promise of the
// core was broken on the way.
func Run(cfg Config) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return nil, fault.Newf(fault.Unavailable, "sim: run", "not wired to the cores yet")
}
