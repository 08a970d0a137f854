package record

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/schema/pb"
)

// Keyword is a keyword's record with its anchors, in the form in which pages store it. Its slices
// belong to the code that filled it in.
type Keyword struct {
	ID, Bid       uint64
	Type, Quality uint8
	Flags         uint8 // block.Enabled, block.HasBid, BidFromGroup
	Text          []byte
	Norm, Fold    []uint64
	Forms         []Form
	Anchors       []uint64 // for each form, the term under which its posting lies
	// Whole is the original record if it has fields besides these; pages then store it as well.
	// If it is nil, AppendRecord makes the record from the fields.
	Whole []byte
}

// BidFromGroup is a flag of a Keyword whose bid is the default of its group.
const BidFromGroup = 1 << 7

// Form is a keyword's terms in one language.
type Form struct {
	Language string
	Terms    []uint64
}

// Set fills in the record from a message, whose slices it shares. It sets no anchors.
func (k *Keyword) Set(m *pb.Keyword) error {
	*k = Keyword{
		ID: m.Id, Bid: m.GetBid(), Type: uint8(m.Type), Quality: uint8(m.Quality), Flags: KeywordFlags(m),
		Text: append(k.Text[:0], m.Text...), Norm: m.Norm, Fold: m.Fold, Forms: k.Forms[:0],
	}
	for _, f := range m.Forms {
		k.Forms = append(k.Forms, Form{f.GetLanguage(), f.GetTerms()})
	}
	if !HasUnknownFields(m) {
		return nil
	}
	var err error
	k.Whole, err = Marshal.Marshal(m)
	return err
}

// KeywordFlags returns the Flags that a message's Keyword has.
func KeywordFlags(m *pb.Keyword) (flags uint8) {
	if m.Enabled {
		flags |= block.Enabled
	}
	if m.Bid != nil {
		flags |= block.HasBid
	}
	if m.BidFromGroup {
		flags |= BidFromGroup
	}
	return flags
}

// HasUnknownFields reports whether a message has fields that this version does not know, or rare
// fields that have no short form on a page.
func HasUnknownFields(m *pb.Keyword) bool {
	return m.Learned != 0 || m.Given != 0 || m.FinalUrl != "" || len(m.ProtoReflect().GetUnknown()) > 0 || slices.ContainsFunc(m.Forms, func(f *pb.Form) bool {
		return len(f.ProtoReflect().GetUnknown()) > 0
	})
}

// FinalURL returns the URL that replaces the URL of the keyword's ads, or "" if it has none.
func (k *Keyword) FinalURL() (string, error) {
	if k.Whole == nil {
		return "", nil
	}
	m, err := k.Message()
	return m.GetFinalUrl(), err
}

// Equal reports whether the message is the same record.
func (k *Keyword) Equal(m *pb.Keyword) bool {
	if k.Whole != nil || HasUnknownFields(m) {
		raw, err := Marshal.Marshal(m)
		return err == nil && string(raw) == string(k.AppendRecord(nil))
	}
	return k.ID == m.Id && k.Bid == m.GetBid() && k.Type == uint8(m.Type) && uint32(k.Quality) == m.Quality &&
		k.Flags == KeywordFlags(m) && string(k.Text) == m.Text &&
		slices.Equal(k.Norm, m.Norm) && slices.Equal(k.Fold, m.Fold) && k.HasForms(m, true)
}

// HasForms reports whether the message has the same terms in the same forms, and with languages
// also in the same languages.
func (k *Keyword) HasForms(m *pb.Keyword, languages bool) bool {
	if len(k.Forms) != len(m.Forms) {
		return false
	}
	for i, f := range m.Forms {
		if !slices.Equal(k.Forms[i].Terms, f.GetTerms()) || languages && k.Forms[i].Language != f.GetLanguage() {
			return false
		}
	}
	return true
}

// Message returns the record as a message that shares no memory with it.
func (k *Keyword) Message() (*pb.Keyword, error) {
	if k.Whole != nil {
		m := new(pb.Keyword)
		return m, proto.Unmarshal(k.Whole, m)
	}
	m := &pb.Keyword{
		Id: k.ID, Text: string(k.Text), Type: pb.MatchType(k.Type), Enabled: k.Flags&block.Enabled != 0,
		BidFromGroup: k.Flags&BidFromGroup != 0, Quality: uint32(k.Quality),
		Norm: slices.Clone(k.Norm), Fold: slices.Clone(k.Fold),
	}
	if k.Flags&block.HasBid != 0 {
		bid := k.Bid
		m.Bid = &bid
	}
	for _, f := range k.Forms {
		m.Forms = append(m.Forms, &pb.Form{Language: f.Language, Terms: slices.Clone(f.Terms)})
	}
	return m, nil
}

// AppendRecord appends the record's bytes as Marshal writes them.
func (k *Keyword) AppendRecord(dst []byte) []byte {
	if k.Whole != nil {
		return append(dst, k.Whole...)
	}
	dst = appendNumber(dst, keywordIDField, k.ID)
	if len(k.Text) > 0 {
		dst = protowire.AppendTag(dst, keywordTextField, protowire.BytesType)
		dst = protowire.AppendBytes(dst, k.Text)
	}
	dst = appendNumber(dst, keywordTypeField, uint64(k.Type))
	dst = appendNumber(dst, keywordEnabledField, uint64(k.Flags&block.Enabled))
	if k.Flags&block.HasBid != 0 {
		dst = protowire.AppendTag(dst, keywordBidField, protowire.VarintType)
		dst = protowire.AppendVarint(dst, k.Bid)
	}
	dst = appendNumber(dst, keywordFromGroupField, uint64(k.Flags/BidFromGroup))
	dst = appendNumber(dst, keywordQualityField, uint64(k.Quality))
	dst = appendFixed(dst, keywordNormField, k.Norm)
	dst = appendFixed(dst, keywordFoldField, k.Fold)
	for _, f := range k.Forms {
		dst = protowire.AppendTag(dst, keywordFormsField, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(f.size()))
		if f.Language != "" {
			dst = protowire.AppendTag(dst, formLanguageField, protowire.BytesType)
			dst = protowire.AppendString(dst, f.Language)
		}
		dst = appendFixed(dst, formTermsField, f.Terms)
	}
	return dst
}

// size is the size of the form's message.
func (f *Form) size() (n int) {
	if f.Language != "" {
		n += 1 + protowire.SizeBytes(len(f.Language))
	}
	if len(f.Terms) > 0 {
		n += 1 + protowire.SizeBytes(8*len(f.Terms))
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
	return AppendHashes(dst, list)
}

// AppendPosting appends the canonical bytes of a form's posting, the same as
// block.View.AppendPosting.
func (k *Keyword) AppendPosting(dst []byte, g *block.Group, form int) []byte {
	dst = block.AppendHead(dst, g, k.ID, k.Bid, uint8(len(k.Norm)), k.Quality, k.Type, k.PostingFlags(form))
	for i, t := range k.Forms[form].Terms {
		dst = binary.LittleEndian.AppendUint64(dst, k.Norm[i])
		dst = binary.LittleEndian.AppendUint64(dst, k.Fold[i])
		dst = binary.LittleEndian.AppendUint64(dst, t)
	}
	return dst
}

// PostingFlags returns the flags of the posting of a form (block.Entry).
func (k *Keyword) PostingFlags(form int) uint8 {
	flags := k.Flags &^ BidFromGroup
	if len(k.Forms) > 1 {
		flags |= block.Several
	}
	if form > 0 {
		flags |= block.Later
	}
	return flags
}

// Sound reports whether the record has what postings need: words, a term for each word in each
// form, and an anchor among the terms of each form.
func (k *Keyword) Sound() bool {
	if len(k.Norm) == 0 || len(k.Fold) != len(k.Norm) || len(k.Forms) == 0 || len(k.Anchors) != len(k.Forms) {
		return false
	}
	for i, f := range k.Forms {
		if len(f.Terms) != len(k.Norm) || !slices.Contains(f.Terms, k.Anchors[i]) {
			return false
		}
	}
	return true
}

// AppendHashes appends numbers as little-endian uint64.
func AppendHashes(dst []byte, list []uint64) []byte {
	for _, h := range list {
		dst = binary.LittleEndian.AppendUint64(dst, h)
	}
	return dst
}
