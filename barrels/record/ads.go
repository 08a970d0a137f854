package record

import (
	"bytes"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/search/display"
)

// Numbers of the fields of an ad.
const (
	adIDField          = 1
	adEnabledField     = 2
	adHeadlineField    = 3
	adDescriptionField = 4
	adPath1Field       = 5
	adPath2Field       = 6
	adFinalURLField    = 7
)

// Ads are the ads of a group, by ascending id, as they are stored: decoded, they would take twice the memory, and only the display of a
// keyword among the best needs them. They were checked when the group was read.
type Ads struct {
	stored string // messages, each after its length
}

// None reports whether there are no ads.
func (a Ads) None() bool { return a.stored == "" }

// Bytes returns the size of the ads.
func (a Ads) Bytes() int { return len(a.stored) }

// Read decodes the ads. Their texts share the memory of the stored ones.
func (a Ads) Read() (list []display.Ad) {
	for rest := unsafe.Slice(unsafe.StringData(a.stored), len(a.stored)); len(rest) > 0; {
		b, size := protowire.ConsumeBytes(rest)
		ad, err := readAd(b)
		if size < 0 || err != nil { // checkAd has read the same bytes
			panic("record: an ad that was read before is damaged")
		}
		list, rest = append(list, ad), rest[size:]
	}
	return list
}

// checkAd reports whether the displayed texts of an ad depend on the keyword. It returns an error if the message is damaged.
func checkAd(b []byte) (filled bool, err error) {
	if bytes.IndexByte(b, '{') < 0 {
		return false, EachField(b, func(protowire.Number, []byte, uint64) error { return nil })
	}
	ad, err := readAd(b)
	return err == nil && ad.HasPlaceholders(), err
}

func adEnabled(b []byte) (enabled bool, err error) {
	err = EachField(b, func(n protowire.Number, _ []byte, v uint64) error {
		enabled = enabled || n == adEnabledField && v != 0
		return nil
	})
	return enabled, err
}

// readAd reads an ad, whose texts share the memory of b: it must not change.
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
	lists := make([]string, 0, count[adHeadlineField]+count[adDescriptionField])
	a.Headlines = lists[:0:count[adHeadlineField]]
	a.Descriptions = lists[count[adHeadlineField]:count[adHeadlineField]]
	err = EachField(b, func(n protowire.Number, v []byte, number uint64) error {
		text := unsafe.String(unsafe.SliceData(v), len(v))
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
