package choice

import (
	"math/bits"
	"time"
)

const (
	// steps is the number of classes of an octave: neighbouring ones differ by 9 to 12 %.
	steps = 8
	// classes cover 1 µs to about 4.5 minutes.
	classes = 28 * steps
	// remembered is the number of times after which the counts are halved.
	remembered = 2048
	// enoughTimes is the number of times from which on the usual time is known.
	enoughTimes = 64
)

// usual is the distribution of the times of a shard's calls, of the last few thousand.
type usual struct {
	counts [classes]uint32
	total  uint32
}

// class is that of a time, the same for all times within a tenth of each other.
func class(d time.Duration) int {
	us := uint64(max(d/time.Microsecond, 1))
	octave := bits.Len64(us) - 1
	part := us << 3 >> octave & (steps - 1)
	return min(octave*steps+int(part), classes-1)
}

// longestOf is the longest time of a class.
func longestOf(class int) time.Duration {
	octave, part := class/steps, class%steps
	return time.Duration(uint64(steps+part+1)<<octave>>3)*time.Microsecond + time.Microsecond
}

// observe adds the time of a call.
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

// within is the time within which so many of a thousand calls end, or 0 if not known
// yet.
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
