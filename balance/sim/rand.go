package sim

import "adshard/barrels/certify"

// source is SplitMix64 (Steele, Lea, Flood 2014). It is implemented here so that a run
// is the same on every machine and with every version of Go.
type source struct{ state uint64 }

func (r *source) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// below returns a number from 0 to n-1; n must be positive.
func (r *source) below(n int) int { return int(r.next() % uint64(n)) }

// chance returns true once in n times.
func (r *source) chance(n int) bool { return r.below(n) == 0 }

// float returns a number from 0 up to, but not including, 1.
func (r *source) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// fork returns another source for a purpose, so that numbers drawn for one purpose do
// not change those drawn for another.
func (r *source) fork(purpose string) *source {
	return &source{state: uint64(sum(r.state).add(purpose))}
}

// sum is a hash of a sequence of texts.
type sum uint64

func (s sum) add(text string) sum {
	h := uint64(s)
	for i := range len(text) {
		h = mix(h ^ uint64(text[i]) + 0x9e3779b97f4a7c15)
	}
	return sum(h)
}

// mix is the finaliser of SplitMix64, a bijection.
func mix(x uint64) uint64 { return certify.Mix(x) }
