// Package values reads and writes the values of Editor files and JSON lines:
// money, percentages, dates, schedules, circles, languages, match types, URLs.
//
//	micros, err := values.ParseMoney("1.50") // 1,500,000
//	text := values.FormatMoney(micros)       // "1.5"
//
// Each function reads one form and returns an error for all others. Databases store only one form of a value
// (serving.md §4, §7 and §13).
package values
