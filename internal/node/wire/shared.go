package wire

import (
	"sync"

	"adshard/search"
)

// Shared is a request that is sent to many slaves. It is encoded only once, when the first slave
// needs the encoding. Make it with Share.
type Shared struct {
	r       *search.Request
	encoded *encoded
}

// encoded is shared by all copies of a request that differ only in their tags.
type encoded struct {
	once  sync.Once
	bytes []byte
}

// Share returns r as a Shared. r must not be changed afterwards.
func Share(r *search.Request) *Shared { return &Shared{r, new(encoded)} }

// With returns the request with other tags. The encoding does not include tags.
func (s *Shared) With(t search.Tags) *Shared {
	own := *s.r
	own.Tags = t
	return &Shared{&own, s.encoded}
}

// Request returns the request itself, which must not be changed.
func (s *Shared) Request() *search.Request { return s.r }

// Encoded returns the encoding of the request (AppendRequest), which must not be changed.
func (s *Shared) Encoded() []byte {
	e := s.encoded
	e.once.Do(func() { e.bytes = AppendRequest(make([]byte, 0, usualRequest), s.r) })
	return e.bytes
}

// usualRequest is the number of bytes that most requests need.
const usualRequest = 512
