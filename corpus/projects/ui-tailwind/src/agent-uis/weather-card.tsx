import { useState } from "react";

import "./style.css";

export default function WeatherCard({ city }: { city: string }) {
  const [open, setOpen] = useState(false);
  return (
    <button className="rounded-[7px] bg-teal-700 p-4" onClick={() => setOpen(!open)}>
      {open ? `It is sunny in ${city}` : city}
    </button>
  );
}
