package certs

import "time"

// RecheckEvery sets how often connections opened from now on are rechecked.
func (c *Credentials) RecheckEvery(d time.Duration) { c.recheck = d }
