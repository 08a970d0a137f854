package balance

import "slices"

// union returns a list of disjoint ascending intervals with another added.
func union(list []Interval, v Interval) []Interval {
	var out []Interval
	for _, w := range list {
		if w.Hi < v.Lo && w.Hi+1 != v.Lo || v.Hi < w.Lo && v.Hi+1 != w.Lo {
			out = append(out, w)
			continue
		}
		v = Interval{min(v.Lo, w.Lo), max(v.Hi, w.Hi)}
	}
	i, _ := slices.BinarySearchFunc(out, v.Lo, func(w Interval, k Key) int {
		if w.Lo < k {
			return -1
		}
		return 1
	})
	return slices.Insert(out, i, v)
}

// lacking returns the keys of v that lie in none of a list of disjoint ascending
// intervals.
func lacking(v Interval, list []Interval) []Interval {
	if covers(list, v) {
		return nil
	}
	return outside(v, list)
}

// both returns what lies in both of two lists of disjoint ascending intervals.
func both(a, b []Interval) (out []Interval) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo <= hi {
			out = append(out, Interval{lo, hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
