// Package terminal writes for people: tables that fit a terminal, numbers, money and times, and output that is
// redrawn every second.
package terminal
