package balance

import (
	"slices"
	"sort"
)

// Interval is an interval of keys, both ends inclusive.
type Interval struct{ Lo, Hi Key }

// appendInterval appends an interval whose keys are above all keys of list.
func appendInterval(list []Interval, i Interval) []Interval {
	if n := len(list); n > 0 && list[n-1].Hi+1 == i.Lo {
		list[n-1].Hi = i.Hi
		return list
	}
	return append(list, i)
}

// Contains reports whether a list of disjoint ascending intervals has the key k.
func Contains(list []Interval, k Key) bool {
	_, ok := slices.BinarySearchFunc(list, k, func(v Interval, k Key) int {
		switch {
		case v.Hi < k:
			return -1
		case v.Lo > k:
			return 1
		}
		return 0
	})
	return ok
}

// Overlaps reports whether a list of disjoint ascending intervals has any key of v.
func Overlaps(list []Interval, v Interval) bool {
	i, _ := slices.BinarySearchFunc(list, v.Lo, func(w Interval, k Key) int {
		if w.Hi < k {
			return -1
		}
		return 1
	})
	return i < len(list) && list[i].Lo <= v.Hi
}

// Union returns a list of disjoint ascending intervals with the keys of v added.
func Union(list []Interval, v Interval) []Interval {
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

// Intersect returns the keys that are in both of two lists of disjoint ascending
// intervals.
func Intersect(a, b []Interval) (out []Interval) {
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

// Covers reports whether a list of disjoint ascending intervals has all keys of v. No
// two intervals of the list may touch.
func Covers(list []Interval, v Interval) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Hi >= v.Lo })
	return i < len(list) && list[i].Lo <= v.Lo && v.Hi <= list[i].Hi
}

// Outside returns the keys of v that are in no interval of a list of disjoint ascending
// intervals.
func Outside(v Interval, list []Interval) []Interval {
	if Covers(list, v) {
		return nil
	}
	var out []Interval
	for _, c := range list {
		if c.Hi < v.Lo || c.Lo > v.Hi {
			continue
		}
		if c.Lo > v.Lo {
			out = append(out, Interval{v.Lo, c.Lo - 1})
		}
		if c.Hi >= v.Hi {
			return out
		}
		v.Lo = c.Hi + 1
	}
	return append(out, v)
}

// Within returns the keys of a list of disjoint ascending intervals that are not below
// from and are below offset. The offset 0 stands for the end of the ring.
func Within(list []Interval, from Key, offset uint64) []Interval {
	hi := Key(offset - 1)
	var out []Interval
	for _, v := range list {
		if v.Lo, v.Hi = max(v.Lo, from), min(v.Hi, hi); v.Lo <= v.Hi {
			out = append(out, v)
		}
	}
	return out
}
