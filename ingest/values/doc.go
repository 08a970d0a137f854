// Package values reads and writes the values of Editor files and JSON lines:
// money, percentages, dates, schedules, circles, languages, match types, URLs.
//
//	micros, err := values.ParseMoney("1.50") // 1,500,000
//	text := values.FormatMoney(micros)       // "1.5"
//
// A function reads one form and refuses all others; what databases keep has one
// form only (serving.md §4, §7 and §13).
package values
