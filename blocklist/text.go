package blocklist

import (
	"errors"
	"strconv"
	"strings"

	"adshard/fault"
	"adshard/targeting"
)

// The kinds of lines of Text, in their order.
const (
	lineAdvertiser    = "advertiser\t"
	lineDomain        = "domain\t"
	lineCategory      = "category\t"
	lineUncategorised = "uncategorised\n"
)

// Text returns a normalised list as it is stored and as Parse reads it: a line for each entry, in order.
func (l *List) Text() string {
	var b strings.Builder
	b.Grow(l.size())
	for _, id := range l.Advertisers {
		b.WriteString(lineAdvertiser)
		b.WriteString(strconv.FormatUint(id, 10))
		b.WriteByte('\n')
	}
	for _, part := range l.parts() {
		for _, e := range part.list {
			b.WriteString(part.kind)
			b.WriteString(e)
			b.WriteByte('\n')
		}
	}
	if l.Uncategorised {
		b.WriteString(lineUncategorised)
	}
	return b.String()
}

// part is the entries of one kind, with the beginning of their lines.
type part struct {
	kind string
	list []string
}

func (l *List) parts() []part { return []part{{lineDomain, l.Domains}, {lineCategory, l.Categories}} }

// size returns an upper bound of the size of Text in bytes.
func (l *List) size() int {
	const digits = 20 // of the largest id
	n := len(l.Advertisers)*(len(lineAdvertiser)+digits+1) + len(lineUncategorised)
	for _, part := range l.parts() {
		for _, e := range part.list {
			n += len(part.kind) + len(e) + 1
		}
	}
	return n
}

// Parse reads a list that Text has written. It returns fault.Corrupt if the text is not a list.
func Parse(text string) (*List, error) {
	b, _, err := ParseBlocks(text)
	if err != nil {
		return nil, err
	}
	return &List{Advertisers: b.Advertisers.List(), Domains: b.Domains.List(), Categories: b.Categories.List(), Uncategorised: b.Uncategorised}, nil
}

// ParseBlocks reads a list that Text has written, and returns the blocks that it means for a request. The blocks keep the part of the
// text after the advertisers, which is returned as kept; no entry of it is copied. The text is already sorted, so ParseBlocks only
// checks its order. It returns fault.Corrupt if the text is not valid.
func ParseBlocks(text string) (b *targeting.Blocks, kept string, err error) {
	b = new(targeting.Blocks)
	ids, rest, err := cutIDs(text)
	b.Advertisers = targeting.NewIDs(ids)
	if len(ids) > 0 { // so that the lines of advertisers do not stay in memory
		rest = strings.Clone(rest)
	}
	kept = rest
	if err == nil {
		b.Domains, rest, err = targeting.CutTexts(rest, lineDomain, MaxEntries-len(ids))
	}
	if err == nil {
		b.Categories, rest, err = targeting.CutTexts(rest, lineCategory, MaxEntries-len(ids)-b.Domains.Len())
	}
	if err == nil {
		if rest, b.Uncategorised = strings.CutPrefix(rest, lineUncategorised); rest != "" {
			err = errLine
		}
	}
	if err != nil {
		line := 1 + strings.Count(text[:len(text)-len(rest)], "\n")
		return nil, "", fault.Newf(fault.Corrupt, "block list: parse", "line %d of a block list is damaged: %w", line, err)
	}
	return b, kept, nil
}

var errLine = errors.New("no such line is allowed here")

// cutIDs returns the advertisers at the beginning of a text, and the rest of the text. If it returns an error, the rest begins at the
// faulty line.
func cutIDs(text string) (ids []uint64, rest string, err error) {
	for strings.HasPrefix(text, lineAdvertiser) && len(ids) < MaxEntries {
		line, after, ok := strings.Cut(text, "\n")
		id, err := strconv.ParseUint(line[len(lineAdvertiser):], 10, 64)
		switch {
		case err != nil:
			return ids, text, err
		case !ok || len(ids) > 0 && id <= ids[len(ids)-1]:
			return ids, text, errLine
		}
		ids, text = append(ids, id), after
	}
	return ids, text, nil
}
