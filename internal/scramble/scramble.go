// Package scramble finds memory that is shared and should not be: it fills a value
// to the last field, hands it to the code under test, and then overwrites all that
// can be reached from it.
package scramble

import (
	"fmt"
	"reflect"
	"time"
)

// Fill gives every field that can be reached from *v a value, two elements to each
// slice and map, so that a test covers fields that are yet to come.
func Fill(v any) {
	n := 0
	fillValue(reflect.ValueOf(v).Elem(), &n)
}

func fillValue(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(*n%100 + 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), n)
	case reflect.Struct:
		fillStruct(v, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), n)
		fillValue(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fillValue(key, n)
			fillValue(value, n)
			v.SetMapIndex(key, value)
		}
	default:
		panic(fmt.Sprintf("no value for a %v", v.Type()))
	}
}

// fillStruct leaves alone what a type keeps to itself.
func fillStruct(v reflect.Value, n *int) {
	if t, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*t = time.Unix(int64(*n), 0).UTC()
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			fillValue(v.Field(i), n)
		}
	}
}

// Over overwrites all memory that v refers to.
func Over(v any) { wipeBelow(reflect.ValueOf(v)) }

func wipeBelow(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			wipeBelow(v.Elem())
			wipe(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			wipeBelow(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			wipeBelow(v.Index(i))
			wipe(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			wipeBelow(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	default: // refers to nothing
	}
}

// wipe leaves something that is there, and wrong.
func wipe(v reflect.Value) {
	if v.Kind() == reflect.Uint8 {
		v.SetUint(v.Uint() ^ 0x55)
		return
	}
	v.SetZero()
}
