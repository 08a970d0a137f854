package targeting

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
	"strings"
)

// Texts is a sorted set of texts. All are in one string, so that a million of them take three allocations, which the garbage collector need
// not scan. It does not change after it has been made. The zero value is empty.
type Texts struct {
	all             string
	ends            []uint32 // end of each text in all
	before, between uint32   // bytes before the first text, and between two texts, that belong to none
	filter          filter
}

// NewTexts returns the set of the texts in a list, which may contain repetitions.
func NewTexts(list []string) Texts {
	list = InOrder(list)
	if len(list) == 0 {
		return Texts{}
	}
	t := Texts{all: strings.Join(list, ""), ends: make([]uint32, len(list))}
	size := 0
	for i, s := range list {
		size += len(s)
		t.ends[i] = uint32(size)
	}
	t.fillFilter()
	return t
}

// CutTexts returns the set of the leading lines of a text that begin with prefix, at most `most` of them, and the rest of the text. The set
// shares the text's memory. If it returns an error, the error concerns the first line of the rest: the line is cut off, empty after the
// prefix, or not in ascending order.
func CutTexts(text, prefix string, most int) (t Texts, rest string, err error) {
	most = min(most, strings.Count(text, "\n")+1)
	ends, begin, last := make([]uint32, 0, most), 0, ""
	for len(ends) < most && strings.HasPrefix(text[begin:], prefix) {
		line := text[begin+len(prefix):]
		end := strings.IndexByte(line, '\n')
		if end <= 0 {
			return Texts{}, text[begin:], errLine
		}
		if line[:end] <= last {
			return Texts{}, text[begin:], errOrder
		}
		last = line[:end]
		begin += len(prefix) + end + 1
		ends = append(ends, uint32(begin-1))
	}
	if len(ends) == 0 {
		return Texts{}, text, nil
	}
	t = Texts{all: text[:begin], ends: fitting(ends), before: uint32(len(prefix)), between: uint32(len(prefix) + 1)}
	t.fillFilter()
	return t, text[begin:], nil
}

var (
	errLine  = errors.New("it is cut off")
	errOrder = errors.New("it does not come behind the line before it")
)

// fitting returns a list that takes at most twice the memory it needs.
func fitting(list []uint32) []uint32 {
	if cap(list) > 2*len(list) {
		return slices.Clone(list)
	}
	return list
}

func (t *Texts) fillFilter() {
	if t.filter = newFilter(t.Len()); t.filter == nil {
		return
	}
	for s := range t.All() {
		t.filter.add(hashText(s))
	}
}

// InOrder returns the values of a list sorted and without repetitions. If the list is so already, it returns the list itself.
func InOrder[T cmp.Ordered](list []T) []T {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			list = slices.Clone(list)
			slices.Sort(list)
			return slices.Compact(list)
		}
	}
	return list
}

// Len returns the number of texts.
func (t *Texts) Len() int { return len(t.ends) }

// At returns the i-th text.
func (t *Texts) At(i int) string {
	begin := t.before
	if i > 0 {
		begin = t.ends[i-1] + t.between
	}
	return t.all[begin:t.ends[i]]
}

// All returns all texts in order.
func (t *Texts) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range t.ends {
			if !yield(t.At(i)) {
				return
			}
		}
	}
}

// List returns all texts in order, or nil if there are none.
func (t *Texts) List() []string {
	if t.Len() == 0 {
		return nil
	}
	return slices.AppendSeq(make([]string, 0, t.Len()), t.All())
}

// Has reports whether a text is in the set.
func (t *Texts) Has(s string) bool {
	if t.filter != nil && !t.filter.may(hashText(s)) {
		return false
	}
	_, found := sort.Find(t.Len(), func(i int) int { return strings.Compare(s, t.At(i)) })
	return found
}

// Bytes returns the approximate memory that the set takes.
func (t *Texts) Bytes() int { return len(t.all) + 4*len(t.ends) + 8*len(t.filter) }

// IDs is a sorted set of numbers. The zero value is empty.
type IDs struct {
	list   []uint64
	filter filter
}

// NewIDs returns the set of the numbers in a list, which may contain repetitions. The set may share the list's memory.
func NewIDs(list []uint64) IDs {
	if len(list) == 0 {
		return IDs{}
	}
	s := IDs{list: InOrder(list)}
	if s.filter = newFilter(s.Len()); s.filter != nil {
		for _, id := range s.list {
			s.filter.add(hashID(id))
		}
	}
	return s
}

// Len returns the number of numbers.
func (s *IDs) Len() int { return len(s.list) }

// List returns all numbers in order. The list must not be changed.
func (s *IDs) List() []uint64 { return s.list }

// Has reports whether a number is in the set.
func (s *IDs) Has(id uint64) bool {
	if s.filter != nil && !s.filter.may(hashID(id)) {
		return false
	}
	_, found := slices.BinarySearch(s.list, id)
	return found
}

// Bytes returns the approximate memory that the set takes.
func (s *IDs) Bytes() int { return 8 * (len(s.list) + len(s.filter)) }
