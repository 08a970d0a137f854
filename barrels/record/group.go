package record

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/targeting"
)

// Numbers of the fields of records.proto that are read without reading the rest of their message: a
// group has many ads and negatives, but a hit needs only one ad.
const (
	groupNameField     = 5
	groupNegativeField = 8
	groupAdField       = 9
	groupHeldField     = 11

	groupTargetingField = 12
	keywordTextField    = 2
)

// EachField calls visit for each field of a message until visit returns an error. It passes the
// bytes of length-delimited fields and the numbers of varints.
func EachField(b []byte, visit func(n protowire.Number, bytes []byte, number uint64) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var bytes []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			bytes, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := visit(n, bytes, number); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// Group is what answers show of a group, and what may block it.
type Group struct {
	Name      string
	Held      uint32           // why the group is held, as a backend.Hold
	Ads       Ads              // enabled ones
	Filled    bool             // whether the displayed texts of some ads depend on the keyword
	Negatives Negatives        // enabled ones
	Targeting *targeting.Group // nil if it has none of its own
}

// ReadGroup reads a group's record. It returns an error if the message is damaged.
func ReadGroup(record []byte) (g Group, err error) {
	var list []*pb.Negative
	var room [1 << 10]byte
	ads := room[:0]
	err = EachField(record, func(n protowire.Number, b []byte, number uint64) error {
		switch n {
		case groupNameField:
			g.Name = string(b)
		case groupHeldField:
			g.Held = uint32(number)
		case groupTargetingField:
			g.Targeting, err = readTargeting(b)
			return err
		case groupNegativeField:
			m := new(pb.Negative)
			list = append(list, m)
			return proto.Unmarshal(b, m)
		case groupAdField:
			enabled, err := adEnabled(b)
			if err != nil || !enabled {
				return err
			}
			filled, err := checkAd(b)
			ads = protowire.AppendBytes(ads, b)
			g.Filled = g.Filled || filled
			return err
		}
		return nil
	})
	g.Negatives, g.Ads = CompileNegatives(list), Ads{stored: string(ads)}
	return g, err
}
