// Package terminal writes for people: tables that fit a terminal, numbers,
// money and times, and what is drawn anew every second.
package terminal
