package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"adshard/backend"
	"adshard/ingest/values"
)

// Difference is one entity that an import created, changed or removed.
type Difference struct {
	Effect backend.Effect // Created, Changed or Removed
	Entity backend.Entity
	// Advertiser, Campaign and Group name the entity's owners and, if the entity is an advertiser, campaign or group,
	// the entity itself.
	Advertiser, Campaign, Group string
	// Before and After are the entity's fields, or nil if it did not exist then.
	Before, After []Field
}

// Field is a field of an entity as in a JSON line.
type Field struct {
	Name  string
	Value string // JSON
}

// MarshalJSON returns an object with the effect, the entity, the names of its owners, and the fields before and
// after.
func (d *Difference) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"effect":"` + effectNames[d.Effect] + `","entity":"` + d.Entity.String() + `"`)
	for i, name := range []string{d.Advertiser, d.Campaign, d.Group} {
		if i < int(d.Entity) && name != "" {
			b.WriteString(`,"` + backend.Entity(i).String() + `":` + jsonText(name))
		}
	}
	writeFields(&b, "before", d.Before)
	writeFields(&b, "after", d.After)
	b.WriteByte('}')
	return b.Bytes(), nil
}

var effectNames = [...]string{backend.Created: "created", backend.Changed: "changed", backend.Removed: "removed"}

func writeFields(b *bytes.Buffer, name string, list []Field) {
	if list == nil {
		return
	}
	b.WriteString(`,"` + name + `":{`)
	for i, f := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.Name + `":` + f.Value)
	}
	b.WriteByte('}')
}

func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // texts and lists of texts can always be encoded
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// fieldList builds an entity's fields in the order of JSON lines.
type fieldList []Field

func (l *fieldList) add(f jsonField, value string) { *l = append(*l, Field{f.String(), value}) }

func (l *fieldList) text(f jsonField, v any) { l.add(f, jsonText(v)) }

func (l *fieldList) number(f jsonField, has bool, n uint64) {
	value := "null"
	if has {
		value = strconv.FormatUint(n, 10)
	}
	l.add(f, value)
}

// pausedBy adds the reasons why an entity is held, if it is.
func (l *fieldList) pausedBy(h backend.Hold) {
	if h != 0 {
		l.text(fieldPausedBy, h.Reasons())
	}
}

func (l *fieldList) status(enabled bool) {
	status := `"paused"`
	if enabled {
		status = `"enabled"`
	}
	l.add(fieldStatus, status)
}

func (l *fieldList) modifier(f jsonField, m backend.Modifier) {
	value := "null"
	if m.Set {
		value = values.FormatPercent(m.Permille)
	}
	l.add(f, value)
}

func (l *fieldList) languages(f jsonField, list backend.Languages) {
	if list == "" {
		l.add(f, "null")
		return
	}
	l.text(f, list.Codes())
}

// orNull adds a text, or null if it is empty.
func (l *fieldList) orNull(f jsonField, text string) {
	if text == "" {
		l.add(f, "null")
		return
	}
	l.text(f, text)
}

// value adds the canonical text of a value of package targeting, or null if it is empty.
func (l *fieldList) value(f jsonField, text string) { l.add(f, cmp.Or(text, "null")) }

func advertiserFields(a *backend.Advertiser) (l fieldList) {
	l.text(fieldName, a.Name)
	l.advertiserSettings(&a.AdvertiserSettings)
	l.status(a.Enabled)
	return l
}

func campaignFields(c *backend.Campaign) (l fieldList) {
	l.text(fieldName, c.Name)
	l.campaignSettings(&c.CampaignSettings)
	l.pausedBy(c.Hold)
	l.status(c.Enabled)
	return l
}

func groupFields(g *backend.Group) (l fieldList) {
	l.text(fieldName, g.Name)
	l.groupSettings(&g.GroupSettings)
	l.pausedBy(g.Hold)
	l.status(g.Enabled)
	return l
}

func keywordFields(k *backend.Keyword) (l fieldList) {
	l.text(fieldText, k.Text)
	l.text(fieldMatchType, k.Type.String())
	l.keywordSettings(&k.KeywordSettings)
	l.status(k.Enabled)
	return l
}

func negativeFields(n *backend.Negative) (l fieldList) {
	l.text(fieldText, n.Text)
	l.text(fieldMatchType, n.Type.String())
	l.status(n.Enabled)
	return l
}

func adFields(a *backend.Ad) (l fieldList) {
	l.text(fieldHeadlines, append([]string{}, a.Headlines...))
	l.text(fieldDescriptions, append([]string{}, a.Descriptions...))
	l.text(fieldPath1, a.Path1)
	l.text(fieldPath2, a.Path2)
	l.text(fieldFinalURL, a.FinalURL)
	l.status(a.Enabled)
	return l
}

// pairs reads entities from both snapshots and calls compare with both versions of each. A version is nil if the
// entity is missing in that snapshot.
func pairs[T any](ctx context.Context, ids []uint64, before, after func(context.Context, []uint64) ([]*T, error), id func(*T) uint64, compare func(was, is *T) error) error {
	old, err := before(ctx, ids)
	if err != nil {
		return err
	}
	now, err := after(ctx, ids)
	if err != nil {
		return err
	}
	return match(old, now, id, compare)
}

// match pairs entities of two lists in ascending id order.
func match[T any](old, now []*T, id func(*T) uint64, compare func(was, is *T) error) error {
	for len(old) > 0 || len(now) > 0 {
		var was, is *T
		if len(now) == 0 || len(old) > 0 && id(old[0]) <= id(now[0]) {
			was, old = old[0], old[1:]
		}
		if len(now) > 0 && (was == nil || id(now[0]) == id(was)) {
			is, now = now[0], now[1:]
		}
		if err := compare(was, is); err != nil {
			return err
		}
	}
	return nil
}

// report reports the difference between two versions of an entity, if there is one. One version may be nil, but not
// both. fields returns the fields of a version.
func report[T any](d *differences, at Difference, was, is *T, fields func(*T) fieldList) error {
	if was != nil {
		at.Before = fields(was)
	}
	if is != nil {
		at.After = fields(is)
	}
	switch {
	case was == nil:
		at.Effect = backend.Created
	case is == nil:
		at.Effect = backend.Removed
	case slices.Equal(at.Before, at.After):
		return nil
	default:
		at.Effect = backend.Changed
	}
	return d.found(&at)
}

// reportAll reports the differences between two lists of entities, both in ascending id order.
func reportAll[T any](d *differences, at Difference, old, now []T, id func(*T) uint64, fields func(*T) fieldList) error {
	return match(pointers(old), pointers(now), id, func(was, is *T) error { return report(d, at, was, is, fields) })
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
