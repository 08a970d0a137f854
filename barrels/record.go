package barrels

import (
	"adshard/schema/pb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Field numbers of records.proto that are read without reading the rest of
// their message: a group has many ads and negatives, a hit needs one ad.
const (
	groupNameField     = 5
	groupNegativeField = 8
	groupAdField       = 9
	adIDField          = 1
	adEnabledField     = 2
	keywordTextField   = 2
)

// eachField visits the fields of a message: bytes of length-delimited ones,
// the number of varints.
func eachField(b []byte, visit func(n protowire.Number, bytes []byte, number uint64)) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		switch kind {
		case protowire.BytesType:
			var v []byte
			if v, size = protowire.ConsumeBytes(b); size >= 0 {
				visit(n, v, 0)
			}
		case protowire.VarintType:
			var v uint64
			if v, size = protowire.ConsumeVarint(b); size >= 0 {
				visit(n, nil, v)
			}
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
	}
	return nil
}

// groupNegatives reads the negatives of a group's record.
func groupNegatives(record []byte) (negatives, error) {
	var list []*pb.Negative
	var failed error
	err := eachField(record, func(n protowire.Number, b []byte, _ uint64) {
		if n != groupNegativeField || failed != nil {
			return
		}
		m := new(pb.Negative)
		failed = proto.Unmarshal(b, m)
		list = append(list, m)
	})
	if err == nil {
		err = failed
	}
	return compileNegatives(list), err
}

// shown is what a hit shows of its group.
type shown struct {
	name string
	ads  [][]byte // the enabled ones, by rising id
}

func groupShown(record []byte, scratch [][]byte) (s shown, err error) {
	s.ads = scratch[:0]
	var failed error
	err = eachField(record, func(n protowire.Number, b []byte, _ uint64) {
		switch n {
		case groupNameField:
			s.name = string(b)
		case groupAdField:
			enabled := false
			if e := eachField(b, func(n protowire.Number, _ []byte, v uint64) {
				enabled = enabled || n == adEnabledField && v != 0
			}); e != nil {
				failed = e
			}
			if enabled {
				s.ads = append(s.ads, b)
			}
		}
	})
	if err == nil {
		err = failed
	}
	return s, err
}

// keywordText reads the text of a keyword's record.
func keywordText(record []byte) (text string, err error) {
	err = eachField(record, func(n protowire.Number, b []byte, _ uint64) {
		if n == keywordTextField {
			text = string(b)
		}
	})
	return text, err
}
