package splitkey

import (
	"fmt"
	"math/bits"
)

// Method says how far requests move the split key (§3.2). The zero value is Linear.
type Method struct {
	doubles   bool
	reversals uint32 // number of reversals in a row that ends the doubling; 0 if none does
}

// Linear returns the method that moves the key by one unit per request. It is exact in
// the end, but slow.
func Linear() Method { return Method{} }

// Exponential returns the method that doubles the step with each further request in the
// same direction. It is fast, but never comes to rest.
func Exponential() Method { return Method{doubles: true} }

// PingPong returns the method that is Exponential until n steps in a row have each gone
// against the step before, which is likely only near the median; from then on it is
// Linear. If n is below 1, 1 is used.
func PingPong(n int) Method { return Method{doubles: true, reversals: uint32(max(1, n))} }

// String returns the method's name.
func (m Method) String() string {
	switch {
	case !m.doubles:
		return "linear"
	case m.reversals == 0:
		return "exponential"
	}
	return fmt.Sprintf("ping-pong(%d)", m.reversals)
}

// Estimate is a split key that approaches the median of the keys requested. It is not
// safe for concurrent use.
type Estimate struct {
	method  Method
	unit    uint64
	key     uint64
	lo, hi  uint64 // least and greatest key requested
	run     uint32 // number of steps in the last direction without a reversal
	turns   uint32 // number of consecutive reversals up to the last step
	up      bool   // the direction of the last step
	begun   bool
	settled bool
}

// New returns an estimate that has seen no request. unit is the length of a linear
// step, and of the first exponential one, in keys; 0 means 1.
func New(m Method, unit uint64) Estimate {
	return Estimate{method: m, unit: max(1, unit), settled: !m.doubles}
}

// Add takes a request for a key.
func (e *Estimate) Add(key uint64) {
	if !e.begun {
		e.key, e.lo, e.hi = key, key, key
	}
	e.lo, e.hi = min(e.lo, key), max(e.hi, key)
	up := key > e.key
	switch {
	case !e.begun:
		e.begun, e.run = true, 1
	case up == e.up:
		e.run, e.turns = e.run+1, 0
	default:
		e.run, e.turns = 1, e.turns+1
	}
	e.up = up
	if e.method.reversals > 0 && e.turns >= e.method.reversals {
		e.settled = true
	}
	if step := e.step(); up {
		e.key += min(step, e.hi-e.key)
	} else {
		e.key -= min(step, e.key-e.lo)
	}
}

// step returns the length of the next step, or the greatest 64-bit number if the length
// does not fit.
func (e *Estimate) step() uint64 {
	if e.settled || e.run <= 1 {
		return e.unit
	}
	shift := int(e.run - 1)
	if shift > bits.LeadingZeros64(e.unit) {
		return ^uint64(0)
	}
	return e.unit << shift
}

// Key returns the split key, which is the last key of the left half. ok is false before
// the first request.
func (e *Estimate) Key() (key uint64, ok bool) { return e.key, e.begun }

// Settled reports whether all further steps are linear.
func (e *Estimate) Settled() bool { return e.settled }
