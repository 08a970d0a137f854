package wire

import (
	"sync"

	"adshard/search"
)

// Shared is a request that goes to many slaves. It is encoded once, when a slave needs
// that. Make it with Share.
type Shared struct {
	r       *search.Request
	encoded *encoded
}

// encoded is what all copies of a request with other tags have in common.
type encoded struct {
	once  sync.Once
	bytes []byte
}

// Share returns r to be sent to many slaves; r must not change any more.
func Share(r *search.Request) *Shared { return &Shared{r, new(encoded)} }

// With returns the request with other tags, which the encoding does not have.
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

// usualRequest is the room that most requests need, in bytes.
const usualRequest = 512
