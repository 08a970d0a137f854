package countfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"adshard/auction"
	"adshard/fault"
	"adshard/quality"
	"adshard/search"
	"adshard/targeting"
)

// Row is one line of a file.
type Row struct {
	Cell  quality.Cell
	Count quality.Count
	// Request has the features that the requests share; Says tells which of them are known. Its Weekday is not set.
	Request auction.Situation
	Says    Says
}

// Says marks what a row says about requests.
type Says struct{ Device, Hour, QueryWords, Site bool }

// column is a column of a CSV file.
type column uint8

const (
	ignored column = iota
	campaign
	group
	keyword
	ad
	position
	day
	impressions
	clicks
	device
	hour
	queryWords
	site
	columns
)

var names = [columns]string{"", "campaign", "group", "keyword", "ad", "position", "day", "impressions", "clicks", "device", "hour", "query_words", "site"}

// String returns the column's name.
func (c column) String() string { return names[c] }

// needed reports whether every row must have the column.
func (c column) needed() bool { return c != ignored && c != ad && c < device }

// text reports whether the column contains texts.
func (c column) text() bool { return c == day || c == device || c == site }

// readHeader reads the names of the columns. Unknown columns are ignored.
func (f *file) readHeader(line string) error {
	var missing []string
	for _, cell := range cells(line) {
		name := strings.TrimSuffix(strings.ToLower(cell), "_id")
		c := column(max(0, slices.Index(names[:f.columns], name)))
		if c != ignored && slices.Contains(f.header, c) {
			return fmt.Errorf("two columns %v", c)
		}
		f.header = append(f.header, c)
	}
	for c := ignored; c < columns; c++ {
		if c.needed() && !slices.Contains(f.header, c) {
			missing = append(missing, c.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the header lacks %s: it names campaign, group, keyword, ad, position, day, impressions and clicks, in any order", strings.Join(missing, ", "))
	}
	return nil
}

// cells splits a line. No value contains a comma or a quotation mark.
func cells(line string) []string {
	list := strings.Split(line, ",")
	for i, c := range list {
		c = strings.TrimSpace(c)
		if len(c) > 1 && c[0] == '"' && c[len(c)-1] == '"' {
			c = c[1 : len(c)-1]
		}
		list[i] = c
	}
	return list
}

func csvRow(line string, header []column) (r Row, err error) {
	list := cells(line)
	if len(list) != len(header) {
		return r, fault.Newf(fault.Invalid, "", "%d cells, the header has %d", len(list), len(header))
	}
	for i, c := range header {
		if err := r.set(c, list[i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// jsonRow reads an object. It reads numbers in the same way as from CSV, so that none is rounded.
func (f *file) jsonRow(line []byte) (r Row, err error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil || object == nil {
		return r, fault.Newf(fault.Invalid, "", `not a JSON object: {"campaign":1,"group":2,"keyword":3,"ad":4,"position":1,"day":"2026-11-23","impressions":100,"clicks":3}`)
	}
	for c := campaign; c < f.columns; c++ {
		raw, ok := object[c.String()]
		if !ok {
			raw, ok = object[c.String()+"_id"]
		}
		text := string(raw)
		if c.text() && json.Unmarshal(raw, &text) != nil {
			text = ""
		}
		if !ok && !c.needed() {
			continue
		}
		if err := r.set(c, text); err != nil {
			return r, err
		}
	}
	return r, nil
}

// set reads one value.
func (r *Row) set(c column, text string) (err error) {
	n := uint64(0)
	switch {
	case c == ignored, c == ad && text == "":
		return nil
	case c == day:
		r.Cell.Day, err = ParseDay(text)
		return err
	case c == device || c == site:
		return r.setText(c, text)
	}
	if n, err = number(c, text); err != nil {
		return err
	}
	switch c {
	case campaign:
		r.Cell.Campaign = n
	case group:
		r.Cell.Group = n
	case keyword:
		r.Cell.Keyword = n
	case ad:
		r.Cell.Ad = n
	case position:
		r.Cell.Position = uint8(min(n, math.MaxUint8)) // checked when it is counted
	case impressions:
		r.Count.Impressions = n
	case clicks:
		r.Count.Clicks = n
	case hour:
		r.Says.Hour = true
		r.Request.Hour, err = upTo(c, n, 23)
	case queryWords:
		r.Says.QueryWords = true
		r.Request.Words, err = upTo(c, n, search.MaxQueryUnits)
	}
	return err
}

func upTo(c column, n uint64, most uint8) (uint8, error) {
	if n > uint64(most) {
		return 0, fault.Field("countfile: row", c.String(), "%d: 0 to %d", n, most)
	}
	return uint8(n), nil
}

// setText sets a device or a site. "" means no site.
func (r *Row) setText(c column, text string) (err error) {
	switch {
	case c == device:
		d, ok := search.ParseDevice(text)
		if !ok {
			return fault.Field("countfile: row", c.String(), "%q is not a device: desktop, mobile or tablet", clipped(text))
		}
		r.Request.Device, r.Says.Device = uint8(d), true
	case text != "":
		if r.Request.Site, err = targeting.Host(text); err != nil {
			return fault.Field("countfile: row", c.String(), "%q is not a host such as shop.example", clipped(text))
		}
		fallthrough
	default:
		r.Says.Site = true
	}
	return nil
}

func number(c column, text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case text == "":
		return 0, fault.Field("countfile: row", c.String(), "a number is missing")
	case errors.Is(err, strconv.ErrRange):
		return 0, fault.Field("countfile: row", c.String(), "%s is too large", clipped(text))
	case err != nil:
		return 0, fault.Field("countfile: row", c.String(), "%q is not a number", clipped(text))
	}
	return n, nil
}
