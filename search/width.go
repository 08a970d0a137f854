package search

import "math/bits"

// Width is a part of the ring, 0 to 2⁶⁴ inclusive, as a 128-bit number: the
// whole ring does not fit 64 bits.
type Width struct{ Hi, Lo uint64 }

// WholeRing is the width of the whole ring, 2⁶⁴.
func WholeRing() Width { return Width{Hi: 1} }

// IntervalWidth returns the width of the keys from lo to hi, both inclusive; lo must not exceed hi.
func IntervalWidth(lo, hi uint64) Width {
	return Width{Lo: hi - lo}.Add(Width{Lo: 1})
}

// Add returns w + v.
func (w Width) Add(v Width) Width {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	hi, _ := bits.Add64(w.Hi, v.Hi, carry)
	return Width{Hi: hi, Lo: lo}
}

// Sub returns w − v. v must not be wider than w.
func (w Width) Sub(v Width) Width {
	lo, borrow := bits.Sub64(w.Lo, v.Lo, 0)
	hi, _ := bits.Sub64(w.Hi, v.Hi, borrow)
	return Width{Hi: hi, Lo: lo}
}

// Less reports whether w is less than v.
func (w Width) Less(v Width) bool { return w.Hi < v.Hi || w.Hi == v.Hi && w.Lo < v.Lo }
