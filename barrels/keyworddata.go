package barrels

import (
	"encoding/binary"
	"slices"

	"adshard/barrels/block"
	"adshard/schema/pb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// keywordData is a keyword's record with its anchors in the form in which
// pages are written and read. Whose the slices are its maker says.
type keywordData struct {
	id, bid       uint64
	kind, quality uint8
	flags         uint8 // block.Enabled, block.HasBid, fromGroup
	text          []byte
	norm, fold    []uint64
	forms         []formData
	anchors       []uint64 // by form: the term that its posting lies at
	// whole is the record as it came where its fields are not all there is:
	// pages keep it beside them. Nil: appendRecord makes it of the fields.
	whole []byte
}

// fromGroup is a flag of keywordData: its bid is its group's default.
const fromGroup = 1 << 7

// formData is a keyword's terms in one language.
type formData struct {
	language string
	terms    []uint64
}

// ofMessage takes over a message, whose slices it shares.
func (k *keywordData) ofMessage(m *pb.Keyword) error {
	*k = keywordData{
		id: m.Id, bid: m.GetBid(), kind: uint8(m.Type), quality: uint8(m.Quality), flags: messageFlags(m),
		text: append(k.text[:0], m.Text...), norm: m.Norm, fold: m.Fold, forms: k.forms[:0],
	}
	for _, f := range m.Forms {
		k.forms = append(k.forms, formData{f.GetLanguage(), f.GetTerms()})
	}
	if !unknownFields(m) {
		return nil
	}
	var err error
	k.whole, err = marshal.Marshal(m)
	return err
}

// messageFlags are the flags of keywordData.
func messageFlags(m *pb.Keyword) (flags uint8) {
	if m.Enabled {
		flags |= block.Enabled
	}
	if m.Bid != nil {
		flags |= block.HasBid
	}
	if m.BidFromGroup {
		flags |= fromGroup
	}
	return flags
}

// unknownFields tells whether a message has fields of another version.
func unknownFields(m *pb.Keyword) bool {
	return len(m.ProtoReflect().GetUnknown()) > 0 || slices.ContainsFunc(m.Forms, func(f *pb.Form) bool {
		return len(f.ProtoReflect().GetUnknown()) > 0
	})
}

// is tells whether the message is the same record.
func (k *keywordData) is(m *pb.Keyword) bool {
	if k.whole != nil || unknownFields(m) {
		raw, err := marshal.Marshal(m)
		return err == nil && string(raw) == string(k.appendRecord(nil))
	}
	return k.id == m.Id && k.bid == m.GetBid() && k.kind == uint8(m.Type) && uint32(k.quality) == m.Quality &&
		k.flags == messageFlags(m) && string(k.text) == m.Text &&
		slices.Equal(k.norm, m.Norm) && slices.Equal(k.fold, m.Fold) && k.hasForms(m, true)
}

// hasForms tells whether the message has the same terms in the same forms, of
// the same languages if they matter.
func (k *keywordData) hasForms(m *pb.Keyword, languages bool) bool {
	if len(k.forms) != len(m.Forms) {
		return false
	}
	for i, f := range m.Forms {
		if !slices.Equal(k.forms[i].terms, f.GetTerms()) || languages && k.forms[i].language != f.GetLanguage() {
			return false
		}
	}
	return true
}

// message makes the record a message of its own.
func (k *keywordData) message() (*pb.Keyword, error) {
	if k.whole != nil {
		m := new(pb.Keyword)
		return m, proto.Unmarshal(k.whole, m)
	}
	m := &pb.Keyword{
		Id: k.id, Text: string(k.text), Type: pb.MatchType(k.kind), Enabled: k.flags&block.Enabled != 0,
		BidFromGroup: k.flags&fromGroup != 0, Quality: uint32(k.quality),
		Norm: slices.Clone(k.norm), Fold: slices.Clone(k.fold),
	}
	if k.flags&block.HasBid != 0 {
		bid := k.bid
		m.Bid = &bid
	}
	for _, f := range k.forms {
		m.Forms = append(m.Forms, &pb.Form{Language: f.language, Terms: slices.Clone(f.terms)})
	}
	return m, nil
}

// appendRecord appends the record's bytes, those of marshal.
func (k *keywordData) appendRecord(dst []byte) []byte {
	if k.whole != nil {
		return append(dst, k.whole...)
	}
	dst = appendNumber(dst, keywordIDField, k.id)
	if len(k.text) > 0 {
		dst = protowire.AppendTag(dst, keywordTextField, protowire.BytesType)
		dst = protowire.AppendBytes(dst, k.text)
	}
	dst = appendNumber(dst, keywordTypeField, uint64(k.kind))
	dst = appendNumber(dst, keywordEnabledField, uint64(k.flags&block.Enabled))
	if k.flags&block.HasBid != 0 {
		dst = protowire.AppendTag(dst, keywordBidField, protowire.VarintType)
		dst = protowire.AppendVarint(dst, k.bid)
	}
	dst = appendNumber(dst, keywordFromGroupField, uint64(k.flags/fromGroup))
	dst = appendNumber(dst, keywordQualityField, uint64(k.quality))
	dst = appendFixed(dst, keywordNormField, k.norm)
	dst = appendFixed(dst, keywordFoldField, k.fold)
	for _, f := range k.forms {
		dst = protowire.AppendTag(dst, keywordFormsField, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(f.size()))
		if f.language != "" {
			dst = protowire.AppendTag(dst, formLanguageField, protowire.BytesType)
			dst = protowire.AppendString(dst, f.language)
		}
		dst = appendFixed(dst, formTermsField, f.terms)
	}
	return dst
}

// size is the size of the form's message.
func (f *formData) size() (n int) {
	if f.language != "" {
		n += 1 + protowire.SizeBytes(len(f.language))
	}
	if len(f.terms) > 0 {
		n += 1 + protowire.SizeBytes(8*len(f.terms))
	}
	return n
}

func appendNumber(dst []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), v)
}

func appendFixed(dst []byte, field protowire.Number, list []uint64) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.BytesType), uint64(8*len(list)))
	return appendHashes(dst, list)
}

// appendPosting appends the canonical bytes of a form's posting: what
// block.View's AppendPosting gives of it.
func (k *keywordData) appendPosting(dst []byte, g *block.Group, form int) []byte {
	dst = block.AppendHead(dst, g, k.id, k.bid, uint8(len(k.norm)), k.quality, k.kind, k.postingFlags(form))
	for i, t := range k.forms[form].terms {
		dst = binary.LittleEndian.AppendUint64(dst, k.norm[i])
		dst = binary.LittleEndian.AppendUint64(dst, k.fold[i])
		dst = binary.LittleEndian.AppendUint64(dst, t)
	}
	return dst
}

// postingFlags are the flags of a form's posting.
func (k *keywordData) postingFlags(form int) uint8 {
	flags := k.flags &^ fromGroup
	if len(k.forms) > 1 {
		flags |= block.Several
	}
	if form > 0 {
		flags |= block.Later
	}
	return flags
}

// sound tells whether what postings need is there: a term for each word in
// each form, an anchor among them.
func (k *keywordData) sound() bool {
	if len(k.norm) == 0 || len(k.fold) != len(k.norm) || len(k.forms) == 0 || len(k.anchors) != len(k.forms) {
		return false
	}
	for i, f := range k.forms {
		if len(f.terms) != len(k.norm) || !slices.Contains(f.terms, k.anchors[i]) {
			return false
		}
	}
	return true
}
