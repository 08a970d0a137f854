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
	CanonicalName string // the name with those of the places that contain it, commas between; never empty in a table
	Parent        uint32 // the place that contains it; 0: none does
	Country       string // code of ISO 3166-1, e.g. CZ
	Type          string // e.g. City
	Status        string // Active, or e.g. Removal Planned; never empty in a table
}

// Active is the status of places that are found by name.
const Active = "Active"

// MaxDepth is the most places of a chain of parents, so that a request carries a bounded number of them. Google's have five.
const MaxDepth = 128

// MaxText is the most bytes of a row's texts.
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
	Fields // how many there are
)

var fieldNames = [Fields]string{"Criteria ID", "Name", "Canonical Name", "Parent ID", "Country Code", "Target Type", "Status"}

// String returns the name of the field's column.
func (f Field) String() string { return fieldNames[f] }

// Check returns the first field at fault, and what is wrong with it.
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

// complete fills what an empty field stands for.
func (r *Row) complete() {
	if r.CanonicalName == "" {
		r.CanonicalName = r.Name
	}
	if r.Status == "" {
		r.Status = Active
	}
}
