// Package barreltest may import what is above it.
package barreltest

import _ "adshard/cmd/x/deep"

// Take would be called by search if packages for tests were looked at.
func (T) Take(int) {}

// T has search.Sink.
type T struct{}
