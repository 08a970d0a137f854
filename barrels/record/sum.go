package record

import (
	"google.golang.org/protobuf/proto"

	"adshard/barrels/certify"
	"adshard/fault"
	"adshard/schema/pb"
)

// ItemSum returns a group's contribution to the certificate of an undamaged store: a hash of the
// group's key, its record (which names its parents) and its keywords' records. It returns
// fault.Invalid if a record cannot be encoded.
func ItemSum(it *pb.Item) (certify.Sum, error) {
	s := NewSummer(it.GetGroup())
	s.Add(it.GetKeywords())
	return s.Sum()
}

// Summer computes the sum of a group whose keywords are not all in memory at once.
type Summer struct {
	hash    certify.Hasher
	scratch []byte
	err     error
}

// NewSummer begins the sum of a group.
func NewSummer(g *pb.Group) *Summer {
	s := new(Summer)
	s.hash.Begin(g.GetKey(), s.record(g))
	return s
}

// Add adds the group's next keywords, by ascending ids.
func (s *Summer) Add(list []*pb.Keyword) {
	for _, k := range list {
		s.hash.Record(s.record(k))
	}
}

func (s *Summer) record(m proto.Message) []byte {
	if s.err == nil {
		s.scratch, s.err = Marshal.MarshalAppend(s.scratch[:0], m)
	}
	return s.scratch
}

// Sum returns the same as ItemSum.
func (s *Summer) Sum() (certify.Sum, error) {
	return s.hash.Sum(), fault.New(fault.Invalid, "barrels: sum", s.err)
}

// ParentHash returns a parent's hash in the certificate of an undamaged store: a 128-bit hash of
// its record, a pb.Campaign or pb.Advertiser. It returns fault.Invalid if the record cannot be
// encoded.
func ParentHash(m proto.Message) (hi, lo uint64, err error) {
	raw, err := Marshal.Marshal(m)
	if err != nil {
		return 0, 0, fault.New(fault.Invalid, "barrels: sum", err)
	}
	h := certify.HashParent(raw)
	return h[0], h[1], nil
}
