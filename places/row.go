package places

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Row is a place.
type Row struct {
	ID            uint32
	Name          string
	CanonicalName string // the name and the names of the places that contain it, separated by commas; never empty in a table
	Parent        uint32 // the place that contains it, or 0 if none does
	Country       string // code of ISO 3166-1, e.g. CZ
	Type          string // e.g. City
	Status        string // Active, or e.g. Removal Planned; never empty in a table
}

// Active is the status of places that can be found by name.
const Active = "Active"

// MaxDepth is the largest number of places in a chain of parents. It bounds the number of places that a request carries.
// Google's chains have up to five.
const MaxDepth = 128

// MaxText is the largest total size of a row's texts in bytes.
const MaxText = 1000

var (
	errNoID    = errors.New("an id is a number from 1 to 4294967295")
	errNoName  = errors.New("a place needs a name")
	errText    = errors.New("not valid text: damaged UTF-8, or a tab, line break or other control character")
	errTooLong = fmt.Errorf("longer than %d bytes", MaxText)
)

// Field is a part of a row, in the order of the columns of Google's file.
type Field uint8

// The fields of a row.
const (
	FieldID Field = iota
	FieldName
	FieldCanonicalName
	FieldParent
	FieldCountry
	FieldType
	FieldStatus
	Fields // number of fields
)

var fieldNames = [Fields]string{"Criteria ID", "Name", "Canonical Name", "Parent ID", "Country Code", "Target Type", "Status"}

// String returns the name of the field's column.
func (f Field) String() string { return fieldNames[f] }

// Check returns the first faulty field, and what is wrong with it.
func (r *Row) Check() (Field, error) {
	if r.ID == 0 {
		return FieldID, errNoID
	}
	if r.Name == "" {
		return FieldName, errNoName
	}
	for _, t := range [...]struct {
		of   Field
		text string
	}{
		{FieldName, r.Name}, {FieldCanonicalName, r.CanonicalName}, {FieldCountry, r.Country}, {FieldType, r.Type}, {FieldStatus, r.Status},
	} {
		if len(t.text) > MaxText {
			return t.of, errTooLong
		}
		if !utf8.ValidString(t.text) || strings.ContainsFunc(t.text, unicode.IsControl) {
			return t.of, errText
		}
	}
	return 0, nil
}

// complete fills in empty fields that have a default.
func (r *Row) complete() {
	if r.CanonicalName == "" {
		r.CanonicalName = r.Name
	}
	if r.Status == "" {
		r.Status = Active
	}
}
