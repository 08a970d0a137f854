package certs

import "time"

// RecheckEvery sets how often connections are looked at that are opened from now on.
func (c *Credentials) RecheckEvery(d time.Duration) { c.recheck = d }
