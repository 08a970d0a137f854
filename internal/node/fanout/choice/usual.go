package choice

import (
	"math/bits"
	"time"
)

const (
	// steps is the number of classes in an octave: the bounds of neighbouring classes differ by 9
	// to 12 %.
	steps = 8
	// classes cover 1 µs to about 4.5 minutes.
	classes = 28 * steps
	// remembered is the number of observed times after which all counts are halved.
	remembered = 2048
	// enoughTimes is the number of times that must be known before there is a usual time.
	enoughTimes = 64
)

// usual is the distribution of the durations of a shard's last few thousand calls.
type usual struct {
	counts [classes]uint32
	total  uint32
}

// class returns the class of a duration. The durations in a class differ by about a tenth at most.
func class(d time.Duration) int {
	us := uint64(max(d/time.Microsecond, 1))
	octave := bits.Len64(us) - 1
	part := us << 3 >> octave & (steps - 1)
	return min(octave*steps+int(part), classes-1)
}

// longestOf returns the longest time of a class.
func longestOf(class int) time.Duration {
	octave, part := class/steps, class%steps
	return time.Duration(uint64(steps+part+1)<<octave>>3)*time.Microsecond + time.Microsecond
}

// observe adds the duration of a call.
func (u *usual) observe(took time.Duration) {
	u.counts[class(took)]++
	if u.total++; u.total < remembered {
		return
	}
	u.total = 0
	for i := range u.counts {
		u.counts[i] /= 2
		u.total += u.counts[i]
	}
}

// within returns the time within which this many of a thousand calls end, or 0 if too few times are
// known.
func (u *usual) within(permille uint32) time.Duration {
	if u.total < enoughTimes {
		return 0
	}
	left := u.total - uint32(uint64(u.total)*uint64(permille)/1000)
	for i := classes - 1; i > 0; i-- {
		if u.counts[i] >= left {
			return longestOf(i)
		}
		left -= u.counts[i]
	}
	return longestOf(0)
}
