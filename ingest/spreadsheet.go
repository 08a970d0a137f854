package ingest

import (
	"errors"
	"slices"
	"strings"
)

var errSpreadsheet = errors.New("a spreadsheet wrote this in place of the keyword: correct the cell, and format it as text")

// spreadsheetErrors are what spreadsheets show in place of a value that they cannot compute.
var spreadsheetErrors = []string{"#NAME?", "#REF!", "#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#FIELD!", "#ERROR!",
	"#BLOCKED!", "#BUSY!", "#CONNECT!", "#UNKNOWN!", "#GETTING_DATA"}

// checkSpreadsheet refuses a keyword that a spreadsheet has destroyed: an error, a number in
// scientific notation such as 1.23457E+11, a column too narrow.
func checkSpreadsheet(text string) error {
	if text == "" || text[0] != '#' && (text[0] < '0' || text[0] > '9') {
		return nil
	}
	if slices.Contains(spreadsheetErrors, strings.ToUpper(text)) || len(text) > 2 && strings.Trim(text, "#") == "" {
		return errSpreadsheet
	}
	mantissa, exponent, ok := strings.Cut(strings.ToUpper(text), "E")
	if !ok || len(exponent) < 2 || exponent[0] != '+' && exponent[0] != '-' || !digits(exponent[1:]) {
		return nil
	}
	whole, fraction, pointed := strings.Cut(strings.ReplaceAll(mantissa, ",", "."), ".")
	if digits(whole) && (!pointed || digits(fraction)) {
		return errSpreadsheet
	}
	return nil
}
