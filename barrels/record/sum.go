package record

import (
	"google.golang.org/protobuf/proto"

	"adshard/barrels/certify"
	"adshard/fault"
	"adshard/schema/pb"
)

// ItemSum returns what an undamaged store adds to its certificate for a group: a
// hash of the group's key, its record, which names its parents, and its keywords'
// records. Errors: fault.Invalid for records that cannot be written.
func ItemSum(it *pb.Item) (certify.Sum, error) {
	var h certify.Hasher
	var scratch []byte
	var err error
	record := func(m proto.Message) []byte {
		if err == nil {
			scratch, err = Marshal.MarshalAppend(scratch[:0], m)
		}
		return scratch
	}
	h.Begin(it.GetGroup().GetKey(), record(it.GetGroup()))
	for _, k := range it.GetKeywords() {
		h.Record(record(k))
	}
	return h.Sum(), fault.New(fault.Invalid, "barrels: sum", err)
}

// ParentHash returns what an undamaged store gives for a parent in a certificate:
// a 128-bit hash of its record, a pb.Campaign or pb.Advertiser. Errors:
// fault.Invalid for a record that cannot be written.
func ParentHash(m proto.Message) (hi, lo uint64, err error) {
	raw, err := Marshal.Marshal(m)
	if err != nil {
		return 0, 0, fault.New(fault.Invalid, "barrels: sum", err)
	}
	h := certify.HashParent(raw)
	return h[0], h[1], nil
}
