/** The thumbnails of the record at hand, in the colours of the theme. */
import { computed } from "@preact/signals";
import { held, record, sample } from "../state";
import { mapPalette } from "./palette";
import { Thumbnails } from "./thumbnails";

export const isOlder = computed(() => held.value !== null && record.value !== null && record.value.step !== held.value.step);

export const thumbnails = computed<Thumbnails | null>(() =>
  held.value && new Thumbnails(held.value, Math.min(sample.value, Math.max(0, held.value.info.samples - 1)), mapPalette.value, isOlder.value),
);
