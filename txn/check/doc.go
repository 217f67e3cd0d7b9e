// Package check refuses definitions that make no sense: whatever the mode ([Checker]), and
// what one mode has no use for ([Only]). It refuses words that there are none of, too, in
// queries ([Statuses]) and interventions ([Action], [Reason]). Errors name the field and the
// limit.
//
// Everything here is a pure function of what it is given. What only a coordinator knows, such
// as whether a function is registered or a target may be called, is not asked here.
package check
