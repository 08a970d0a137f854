package sim

import "slices"

// Shrink returns a shorter scenario that still fails. It leaves out events, first half
// of them and then smaller runs, as long as that helps (Zeller, Hildebrandt 2002: delta
// debugging). It calls fails at most `tries` times.
func Shrink(s Scenario, fails func(Scenario) bool, tries int) Scenario {
	for run := (len(s.Events) + 1) / 2; run > 0; {
		found := false
		for at := 0; at < len(s.Events) && tries > 0; {
			shorter := s
			shorter.Events = slices.Delete(slices.Clone(s.Events), at, min(at+run, len(s.Events)))
			tries--
			if fails(shorter) {
				s, found = shorter, true
			} else {
				at += run
			}
		}
		if tries == 0 || run == 1 && !found {
			return s
		}
		if !found || run > len(s.Events) {
			run = max(1, run/2)
		}
	}
	return s
}
