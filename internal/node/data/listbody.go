package data

import (
	"encoding/json"
	"strconv"

	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// MaxListBody bounds the body of a block list, in bytes: a list may have a million entries.
const MaxListBody = 32 << 20

// ParseList reads the body of a change to a block list. `name` is the list's name from the path, or "" for Create. Errors:
// fault.Invalid with the field.
func ParseList(verb Verb, name string, body []byte) (*ListChange, error) {
	c := &ListChange{Verb: verb, Name: name, Edit: &blocklist.Edit{Has: map[string]bool{}}}
	fields := 0
	err := api.FromObject(body, func(d *json.Decoder, field string) error {
		fields++
		switch {
		case field == blocklist.FieldName && verb == Create:
			return readName(d, &c.Name)
		case field == blocklist.FieldUncategorised:
			c.Edit.Has[field] = true
			return readFlag(d, field, &c.Edit.Uncategorised)
		case field == blocklist.FieldRemove && verb == Update:
			return readEntries(d, field, &c.Edit.Remove)
		case field == blocklist.FieldAdd && verb == Update:
			return readEntries(d, field, &c.Edit.Add)
		}
		c.Edit.Has[field] = true
		return readKind(d, field, field, &c.Edit.List)
	})
	switch {
	case err != nil:
		return nil, err
	case verb == Create:
		err = checkNewName(c.Name)
	case fields == 0:
		err = fault.Field(op, "", "the body changes nothing: it has no field")
	}
	if err != nil {
		return nil, err
	}
	return c, c.Edit.Normalise()
}

// checkNewName returns an error for a name under which a list could not be found again, because no path can contain it.
func checkNewName(name string) error {
	if name == "." || name == ".." {
		return fault.Field(op, blocklist.FieldName, "a block list that is called %q has no path of its own: take another name", name)
	}
	return blocklist.CheckName(name)
}

// readEntries reads an object with entries into `to`.
func readEntries(d *json.Decoder, within string, to *blocklist.List) error {
	return api.Fields(d, func(field string) error { return readKind(d, within+"."+field, field, to) })
}

// readKind reads a list of one kind of entries; `field` is the full name of the list.
func readKind(d *json.Decoder, field, kind string, to *blocklist.List) error {
	switch kind {
	case blocklist.FieldAdvertisers:
		return readList(d, field, "an id, a number from 1 on", &to.Advertisers, func(t json.Token) (uint64, bool) {
			n, ok := t.(json.Number)
			id, err := strconv.ParseUint(n.String(), 10, 64)
			return id, ok && err == nil && id > 0
		})
	case blocklist.FieldDomains:
		return readList(d, field, "a string", &to.Domains, entryText)
	case blocklist.FieldCategories:
		return readList(d, field, "a string", &to.Categories, entryText)
	}
	return api.Unknown(field, blocklist.FieldAdvertisers, blocklist.FieldDomains, blocklist.FieldCategories, blocklist.FieldUncategorised)
}

func entryText(t json.Token) (string, bool) {
	s, ok := t.(string)
	return s, ok
}

// readList reads a list element by element, so that it is not in memory twice; null is read as an empty list.
func readList[T any](d *json.Decoder, field, what string, to *[]T, of func(json.Token) (T, bool)) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return errNotJSON
	case t == nil:
		return nil
	case t != json.Delim('['):
		return fault.Field(op, field, "%s must be a list", field)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return errNotJSON
		}
		e, ok := of(t)
		switch {
		case !ok:
			return fault.Field(op, field, "an element of %s must be %s", field, what)
		case len(*to) == blocklist.MaxEntries:
			return fault.Field(op, field, "%s has more than %d elements", field, blocklist.MaxEntries)
		}
		*to = append(*to, e)
	}
	if _, err := d.Token(); err != nil {
		return errNotJSON
	}
	return nil
}

var errNotJSON = fault.Field(op, "", "the body is not JSON")

func readName(d *json.Decoder, to *string) error {
	t, err := d.Token()
	if err != nil {
		return errNotJSON
	}
	name, ok := t.(string)
	if *to = name; !ok {
		return fault.Field(op, blocklist.FieldName, "name must be a string")
	}
	return nil
}

// readFlag reads true or false; null means false, the default.
func readFlag(d *json.Decoder, field string, to *bool) error {
	t, err := d.Token()
	if err != nil {
		return errNotJSON
	}
	flag, ok := t.(bool)
	if *to = flag; !ok && t != nil {
		return fault.Field(op, field, "%s must be true or false", field)
	}
	return nil
}
