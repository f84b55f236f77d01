export class FileResponse {
  readonly id: string;
  readonly object: 'file';
  /** Azure OpenAI does not always return it. */
  readonly bytes?: number | null;
  /** Unix seconds. */
  readonly created_at?: number | null;
  /** The name of the file. */
  readonly filename: string;
  /** The purpose of the file, e.g. `batch`. */
  readonly purpose: string;
}

export class FileListResponse {
  readonly object: 'list';
  readonly data: FileResponse[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  /** Azure OpenAI's lists leave it out. */
  readonly has_more?: boolean;
}

export class DeletedResponse {
  readonly id: string;
  readonly object: string;
  /** Whether the object is deleted. */
  readonly deleted: boolean;
}
