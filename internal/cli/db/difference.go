package db

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"adshard/backend"
	"adshard/ingest"
)

// differenceWriter writes what an import would change, entity by entity.
type differenceWriter struct {
	out  *bufio.Writer
	json bool
}

func newDifferenceWriter(out io.Writer, json bool) *differenceWriter {
	return &differenceWriter{bufio.NewWriter(out), json}
}

func (w *differenceWriter) write(d *ingest.Difference) error {
	if w.json {
		e := json.NewEncoder(w.out)
		e.SetEscapeHTML(false)
		return e.Encode(map[string]*ingest.Difference{"difference": d})
	}
	_, err := w.out.WriteString(differenceLine(d))
	return err
}

// differenceLine returns a difference as a line: what happens to which entity, and its fields as in JSON lines. Texts
// are quoted, so that advertisers' text never reaches the terminal unescaped.
func differenceLine(d *ingest.Difference) string {
	var b strings.Builder
	effect := map[backend.Effect]string{backend.Created: "created", backend.Changed: "changed", backend.Removed: "removed"}[d.Effect]
	b.WriteString(effect + " " + d.Entity.String() + " ")
	for i, name := range []string{d.Advertiser, d.Campaign, d.Group} {
		if i > 0 && name != "" {
			b.WriteString(" / ")
		}
		if name != "" {
			b.WriteString(strconv.Quote(name))
		}
	}
	shown := d.After
	if d.Effect == backend.Removed {
		shown = d.Before
	}
	if d.Entity >= backend.EntityKeyword { // it has no name; its first fields identify it
		b.WriteString(" /")
		for _, f := range keyFields(d.Entity, shown) {
			b.WriteString(" " + plainJSON(f.Value))
		}
	}
	b.WriteString(fieldText(d))
	b.WriteByte('\n')
	return b.String()
}

// keyFields returns the fields that identify an entity within its owner.
func keyFields(entity backend.Entity, list []ingest.Field) []ingest.Field {
	if entity == backend.EntityKeyword || entity == backend.EntityNegative {
		return list[:2] // text and match type
	}
	return list[:1] // name or headlines
}

func fieldText(d *ingest.Difference) string {
	var parts []string
	switch d.Effect {
	case backend.Created:
		for _, f := range d.After[len(keyFields(d.Entity, d.After)):] {
			if f.Value != "null" && f.Value != `""` && f.Value != "[]" {
				parts = append(parts, f.Name+" "+plainJSON(f.Value))
			}
		}
	case backend.Changed:
		for i, f := range d.After {
			if was := d.Before[i].Value; was != f.Value {
				parts = append(parts, f.Name+" "+plainJSON(was)+" -> "+plainJSON(f.Value))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// plainJSON escapes the unprintable characters in a JSON value.
func plainJSON(value string) string {
	var b strings.Builder
	for _, r := range value {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
