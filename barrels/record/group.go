package record

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/search/display"
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
	adIDField           = 1
	adEnabledField      = 2
	adHeadlineField     = 3
	adDescriptionField  = 4
	adPath1Field        = 5
	adPath2Field        = 6
	adFinalURLField     = 7
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
	Ads       []display.Ad     // enabled ones, by ascending id
	Filled    bool             // whether the displayed texts of some ads depend on the keyword
	Negatives Negatives        // enabled ones
	Targeting *targeting.Group // nil if it has none of its own
}

// ReadGroup reads a group's record. It returns an error if the message is damaged.
func ReadGroup(record []byte) (g Group, err error) {
	var list []*pb.Negative
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
			ad, err := readAd(b)
			g.Ads = append(g.Ads, ad)
			g.Filled = g.Filled || bytes.IndexByte(b, '{') >= 0 && ad.HasPlaceholders()
			return err
		}
		return nil
	})
	g.Negatives = CompileNegatives(list)
	return g, err
}

func adEnabled(b []byte) (enabled bool, err error) {
	err = EachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		enabled = enabled || n == adEnabledField && v != 0
		return nil
	})
	return enabled, err
}

// readAd reads an ad. Its texts share one string.
func readAd(b []byte) (a display.Ad, err error) {
	var count [adFinalURLField + 1]int
	if err = EachField(b, func(n protowire.Number, _ []byte, _ uint64) error {
		if int(n) < len(count) {
			count[n]++
		}
		return nil
	}); err != nil {
		return a, err
	}
	texts := string(b)
	lists := make([]string, 0, count[adHeadlineField]+count[adDescriptionField])
	a.Headlines = lists[:0:count[adHeadlineField]]
	a.Descriptions = lists[count[adHeadlineField]:count[adHeadlineField]]
	err = EachField(b, func(n protowire.Number, v []byte, number uint64) error {
		text := ""
		if len(v) > 0 {
			at := cap(b) - cap(v)
			text = texts[at : at+len(v)]
		}
		switch n {
		case adIDField:
			a.ID = number
		case adHeadlineField:
			a.Headlines = append(a.Headlines, text)
		case adDescriptionField:
			a.Descriptions = append(a.Descriptions, text)
		case adPath1Field:
			a.Path1 = text
		case adPath2Field:
			a.Path2 = text
		case adFinalURLField:
			a.FinalURL = text
		}
		return nil
	})
	if len(a.Headlines) == 0 {
		a.Headlines = nil
	}
	if len(a.Descriptions) == 0 {
		a.Descriptions = nil
	}
	return a, err
}
